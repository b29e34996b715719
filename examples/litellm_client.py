import os

import httpx
import litellm

url, key = os.environ.get("INSTAR_URL", "http://127.0.0.1:4600"), os.environ["INSTAR_KEY"]
headers = {"x-instar-session": "py-litellm-1"}

messages = [{"role": "user", "content": "Write the dates of the meetings into the table in notes.md"}]
model = {"model": "openai/default", "api_base": f"{url}/v1", "api_key": key}
reply = litellm.completion(**model, messages=messages, extra_headers=headers)
print(reply.choices[0].message.content)

turn = reply._hidden_params["additional_headers"]["llm_provider-x-instar-turn"]
bearer = {"authorization": f"Bearer {key}"}
httpx.post(f"{url}/v1/feedback", json={"turn": turn, "score": 1}, headers=bearer).raise_for_status()
