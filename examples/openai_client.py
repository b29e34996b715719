import os

from openai import OpenAI

url = os.environ.get("INSTAR_URL", "http://127.0.0.1:4600")
headers = {"x-instar-session": "py-openai-1"}
client = OpenAI(base_url=f"{url}/v1", api_key=os.environ["INSTAR_KEY"], default_headers=headers)

messages = [{"role": "user", "content": "Write the dates of the meetings into the table in notes.md"}]
reply = client.chat.completions.with_raw_response.create(model="default", messages=messages)
print(reply.parse().choices[0].message.content)

turn = reply.headers["x-instar-turn"]
client.post("/feedback", body={"turn": turn, "score": 1, "note": "The offset is right."}, cast_to=object)
