import os

from anthropic import Anthropic

url = os.environ.get("INSTAR_URL", "http://127.0.0.1:4600")
headers = {"x-instar-session": "py-anthropic-1"}
client = Anthropic(base_url=url, api_key=os.environ["INSTAR_KEY"], default_headers=headers)

messages = [{"role": "user", "content": "Write the dates of the meetings into the table in notes.md"}]
with client.messages.stream(model="default", max_tokens=500, messages=messages) as stream:
    print("".join(stream.text_stream))
    turn = stream.response.headers["x-instar-turn"]

client.post("/v1/feedback", body={"turn": turn, "score": 1, "note": "The offset is right."}, cast_to=object)
