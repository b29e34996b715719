import os

import httpx
import litellm

url, key = os.environ["INSTAR_URL"], os.environ["INSTAR_KEY"]
messages = [{"role": "user", "content": "Write the dates of the meetings into the table in notes.md"}]
for name, base in (("openai/default", f"{url}/v1"), ("anthropic/default", url)):
    headers = {"x-instar-session": "litellm-stream"}
    model = {"model": name, "api_base": base, "api_key": key, "max_tokens": 100}
    reply = litellm.completion(**model, messages=messages, extra_headers=headers, stream=True)
    print("".join(chunk.choices[0].delta.content or "" for chunk in reply))
    turn = reply._hidden_params["additional_headers"]["llm_provider-x-instar-turn"]
    bearer = {"authorization": f"Bearer {key}"}
    httpx.post(f"{url}/v1/feedback", json={"turn": turn, "score": 1}, headers=bearer).raise_for_status()
