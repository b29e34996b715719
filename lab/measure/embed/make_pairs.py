"""Writes training pairs for the sentence model: rules that people give to an assistant, and requests for which a rule matters.

  python make_pairs.py MODEL_DIR OUT.jsonl [--samples 12000] [--seed 19]

A small instruction-tuned language model (Qwen2.5-Coder-1.5B-Instruct was used) is given a random topic, a kind of rule and a
language, and writes one rule and six requests. Nothing of the benchmarks' lessons or tasks goes into a prompt.
"""
import argparse, json, random, re, time
import torch
from transformers import AutoModelForCausalLM, AutoTokenizer

TOOLS = """git|GitHub pull requests|GitLab CI|GitHub Actions|Jenkins|Docker|docker compose|Kubernetes|Helm|Terraform|Ansible|AWS S3|AWS Lambda|GCP|Azure|nginx|Redis|PostgreSQL|MySQL|SQLite|MongoDB|Elasticsearch|Kafka|RabbitMQ|
Python|pandas|NumPy|Jupyter notebooks|pytest|Django|Flask|FastAPI|SQLAlchemy|poetry|pip|uv|ruff|mypy|Airflow|dbt|Spark|scikit-learn|PyTorch|matplotlib|
JavaScript|TypeScript|Node.js|npm|pnpm|yarn|React|Vue|Svelte|Angular|Next.js|Vite|webpack|ESLint|Prettier|Jest|Vitest|Playwright|Cypress|Storybook|Tailwind CSS|CSS|HTML e-mails|Express|Prisma|GraphQL|REST APIs|OpenAPI|WebSockets|
Java|Spring Boot|Maven|Gradle|Kotlin|Android|Swift|iOS|Xcode|Flutter|React Native|C|C++|CMake|embedded firmware|Rust|cargo|Go|Go modules|gRPC|protobuf|C#|.NET|Entity Framework|PHP|Laravel|WordPress|Ruby|Rails|RSpec|Elixir|Phoenix|Haskell|Scala|R|Julia|MATLAB|Perl|Bash scripts|PowerShell|Makefiles|cron jobs|systemd|Linux servers|SSH|DNS|TLS certificates|OAuth|JWT|Stripe payments|e-mail sending|PDF reports|Excel sheets|CSV exports|Google Sheets|invoices|calendars|time zones|currencies|translations|accessibility|search indexing|logging|metrics|alerts|Grafana|Sentry|feature flags|A/B tests|database backups|data pipelines|web scraping|machine-learning experiments|LLM prompts|chat bots|
meeting notes|customer e-mails|support tickets|release notes|changelogs|API documentation|README files|blog posts|slide decks|contracts|job postings|travel bookings|shopping lists|recipes|budgets|tax papers|school schedules|lab protocols|patient letters|inventory lists|shipping labels|survey results|social media posts|press releases|product descriptions|user interviews|design mock-ups|brand guidelines|photo archives|music playlists|home automation|garden plans|fitness plans|language lessons|research papers|bibliographies|grant proposals|legal memos|board minutes|sales forecasts|purchase orders|payroll|expense reports""".replace('\n', '').split('|')
ASPECTS = """naming|formatting|where files live|which tool to use|which version to use|which command to run first|what never to touch|what must be asked first|error handling|edge cases|tests|fixtures|dates and times|units and rounding|numbers and money|text encoding|file names|ordering|missing values|duplicates|permissions|secrets|configuration|environment variables|dependencies|upgrades|migrations|deployment|rollback|performance|memory|caching|concurrency|retries|time-outs|pagination|logging|comments|documentation|commit messages|review habits|branches|code style|imports|types|null handling|validation|sorting|searching|language and tone|length of answers|who is addressed|greeting and signature|structure of the output|tables or lists|links and sources|screenshots|checking the result|a trap that everybody falls into|something that looks right but is wrong|what to do when it fails|cleaning up afterwards""".split('|')
KINDS = ['a short correction as a person types it in a chat, such as "no, we use X here, not Y"', 'a team convention in one sentence', 'a warning about a trap and how to avoid it', 'a symptom, its cause and the fix', 'a preference of one person', 'a step that must not be forgotten', 'a short procedure', 'a fact about this code base or office that nobody can guess', 'a prohibition', 'a command or setting that must be used, spelled exactly']
PEOPLE = ['developer', 'data analyst', 'site reliability engineer', 'team lead', 'researcher', 'office manager', 'support agent', 'student', 'designer', 'accountant', 'founder', 'editor', 'tester', 'mobile developer', 'database administrator', 'teacher']
LANGUAGES = ['German', 'Spanish', 'French', 'Portuguese', 'Italian', 'Dutch', 'Polish', 'Turkish', 'Chinese', 'Japanese', 'Russian', 'Swedish']

PROMPT = """Rules that people gave to their assistant, and later requests in which a rule matters although nobody mentions it and none of its words are used.
The six requests are: 1. plain; 2. symptom: they say only what looks wrong or broke; 3. everyday: as a person says it who does not know the field; 4. curt: three to six lower-case words; 5. in another language; 6. long, with side details.

Topic: spreadsheets, numbers and money. An accountant told: a short correction as typed in a chat. Language: German.
{{"name": "amounts-in-swiss-francs", "rule": "no, amounts go out with an apostrophe and CHF in front: CHF 12'400.50", "detail": "The clients are in Zurich, where a comma is read as a decimal mark.", "requests": ["make a quote for Meier AG over the three consulting days", "the totals in the offer I sent look odd to the customer", "write up what they owe us so that I can mail it", "invoice for march please", "Erstelle eine Liste der offenen Posten für Frau Keller", "Mrs. Keller called about the renovation. She wants to see everything we charged since January. Can you draft it by noon?"]}}

Topic: Python, a trap that everybody falls into. A developer told: a symptom, its cause and the fix. Language: Spanish.
{{"name": "bootstrap-before-models", "rule": "Zero tables found means app.bootstrap was not imported before app.models; import it first.", "detail": "The registry fills itself at import time and stays empty otherwise.", "requests": ["add a command that lists all users", "my script says there is nothing in the db but the site shows everything", "the little program I run at night comes back empty", "write export job for orders", "escribe un script que borre las cuentas inactivas", "We need a one-off job that mails everybody who signed up in May. It runs outside the web server, so put it into scripts/."]}}

Topic: {tool}, {aspect}. A {person} told: {kind}. Language: {language}.
"""


def prompts(count, seed):
    draw = random.Random(seed)
    for _ in range(count):
        yield PROMPT.format(tool=draw.choice(TOOLS), aspect=draw.choice(ASPECTS), person=draw.choice(PEOPLE), kind=draw.choice(KINDS), language=draw.choice(LANGUAGES))


def read(reply):
    """The object of a reply; what cannot be read is left out."""
    found = re.search(r'\{.*\}', reply, re.S)
    if not found: return None
    try: value = json.loads(found[0], strict=False)
    except ValueError: return None
    if not isinstance(value, dict): return None
    texts = [value.get('rule'), *(value.get('requests') or [])] if isinstance(value.get('requests'), list) else []
    if len(texts) < 4 or not all(isinstance(text, str) and 4 < len(text) < 600 for text in texts): return None
    clean = lambda text: re.sub(r'^\s*(?:\d\.\s*)?(?:plain|symptom|everyday|curt|long|the same[^:]{0,40}|in \w+|\w+)\s*:\s+', '', text, flags=re.I).strip()
    return {'name': str(value.get('name', ''))[:80], 'rule': value['rule'].strip(), 'detail': str(value.get('detail', ''))[:500], 'requests': [clean(text) for text in texts[1:7]]}


def main():
    args = argparse.ArgumentParser()
    args.add_argument('model'); args.add_argument('out')
    args.add_argument('--samples', type=int, default=12000); args.add_argument('--seed', type=int, default=19)
    args.add_argument('--batch', type=int, default=1536); args.add_argument('--seconds', type=float, default=420)
    args = args.parse_args()
    torch.manual_seed(args.seed)
    tokenizer = AutoTokenizer.from_pretrained(args.model, padding_side='left')
    model = AutoModelForCausalLM.from_pretrained(args.model, dtype=torch.bfloat16).cuda().eval()
    start, kept, tried = time.time(), 0, 0
    todo = list(prompts(args.samples, args.seed))
    # Prompts of one length need no padding mask, and so the fast attention kernel is used.
    groups = {}
    for text in todo:
        chat = tokenizer.apply_chat_template([{'role': 'user', 'content': text}], tokenize=False, add_generation_prompt=True)
        ids = tokenizer(chat)['input_ids']
        groups.setdefault(len(ids), []).append(ids)
    batches = [rows[at:at + args.batch] for rows in groups.values() for at in range(0, len(rows), args.batch)]
    with open(args.out, 'w') as out:
        for rows in sorted(batches, key=len, reverse=True):
            if time.time() - start > args.seconds: break
            batch = torch.tensor(rows, device='cuda')
            with torch.inference_mode():
                made = model.generate(input_ids=batch, max_new_tokens=300, do_sample=True, temperature=0.8, top_p=1.0, top_k=0, min_p=0.05, pad_token_id=tokenizer.pad_token_id)
            replies = tokenizer.batch_decode(made[:, batch.shape[1]:], skip_special_tokens=True)
            tried += len(replies)
            for reply in replies:
                value = read(reply)
                if value is not None:
                    kept += 1
                    out.write(json.dumps(value, ensure_ascii=False) + '\n')
            out.flush()
            print(f'{tried} tried, {kept} kept, {time.time() - start:.0f} s', flush=True)


if __name__ == '__main__': main()
