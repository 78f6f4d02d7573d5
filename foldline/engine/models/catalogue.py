"""Windows and prices by provider and model, as data. `make models` writes this file; do not edit it.

A line has the provider, the model, its window in tokens, its prices (US dollars for a million tokens of input, input
read from the cache, input written to it, and output; `-` if unknown), and how its names are recognized: `=` the whole
name, `^` its beginning, `$` its end, `*` a part of it, `~` a pattern. Where `SECOND_SOURCE` has another figure for the
tokens of a request, that stands behind the window and a `/`; a `-` before it if only that source has one.
"""

from typing import Final

SOURCE: Final = "genai-prices 0.2.3"
SECOND_SOURCE: Final = "LiteLLM 1.110.2"
DATE: Final = "2026-11-25"
ROWS: Final = r"""
anthropic claude-2 200000 8/-/-/24 *claude-v2 =claude-2 ^claude-2
anthropic claude-3-5-haiku-latest 200000 0.8/0.08/1/4 =claude-3-5-haiku-latest ^claude-3-5-haiku ^claude-3.5-haiku
anthropic claude-3-5-sonnet 200000 3/0.3/3.75/15 =claude-3-5-sonnet ^claude-3-5-sonnet ^claude-3.5-sonnet
anthropic claude-3-7-sonnet-latest 200000 3/0.3/3.75/15 =claude-3-7-sonnet-latest ^claude-3-7-sonnet ^claude-3.7-sonnet ^claude-sonnet-3-7 ^claude-sonnet-3.7
anthropic claude-3-haiku 200000 0.25/0.03/0.3/1.25 =claude-3-haiku ^claude-3-haiku
anthropic claude-3-opus-latest 200000 15/1.5/18.75/75 =claude-3-opus-latest ^claude-3-opus
anthropic claude-3-sonnet 200000 3/0.3/3.75/15 =claude-3-sonnet ^claude-3-sonnet
anthropic claude-fable-5 1000000 10/1/12.5/50 =claude-fable-5 ~^claude-fable-5-\d{8}$
anthropic claude-fable-5-1 1000000 10/0.25/12.5/50 =claude-fable-5-1 ~^claude-fable-5-1-\d{8}$
anthropic claude-fable-5-2 1000000 8/0.2/10/40 =claude-fable-5-2 ~^claude-fable-5-2-\d{8}$
anthropic claude-haiku-4-5 200000 1/0.1/1.25/5 =claude-haiku-4-5 ^claude-4-5-haiku ^claude-4.5-haiku ^claude-haiku-4-5 ^claude-haiku-4.5
anthropic claude-haiku-5-5 1000000 0.1/0.01/0.125/0.5 =claude-haiku-5-5 ^claude-5-5-haiku ^claude-5.5-haiku ^claude-haiku-5-5@ ^claude-haiku-5.5 ~^claude-haiku-5-5-\d{8}$
anthropic claude-mythos-5-2 1000000 8/0.2/10/40 =claude-mythos-5-2 ~^claude-mythos-5-2-\d{8}$
anthropic claude-opus-4-0 200000 15/1.5/18.75/75 =claude-opus-4 =claude-opus-4-0 =claude-opus-4-20250514 ^claude-4-opus ^claude-opus-4-0
anthropic claude-opus-4-1 200000 15/1.5/18.75/75 =claude-opus-4-1 ^claude-opus-4-1 ^claude-opus-4.1
anthropic claude-opus-4-5 200000 5/0.5/6.25/25 =claude-opus-4-5 ^claude-4-5-opus ^claude-4.5-opus ^claude-opus-4-5 ^claude-opus-4.5
anthropic claude-opus-4-6 1000000 5/0.5/6.25/25 =claude-opus-4-6 ^claude-4-6-opus ^claude-4.6-opus ^claude-opus-4-6 ^claude-opus-4.6
anthropic claude-opus-4-7 1000000 5/0.5/6.25/25 =claude-opus-4-7 ^claude-4-7-opus ^claude-4.7-opus ^claude-opus-4-7 ^claude-opus-4.7
anthropic claude-opus-4-8 1000000 5/0.5/6.25/25 =claude-opus-4-8 ^claude-4-8-opus ^claude-4.8-opus ^claude-opus-4-8 ^claude-opus-4.8
anthropic claude-opus-5 1000000 5/0.5/6.25/25 =claude-opus-5 =claude-opus-5-latest ^claude-5-opus ^claude-5.0-opus ^claude-opus-5.0 ~^claude-opus-5-\d{4}-\d{2}-\d{2}$ ~^claude-opus-5[-@]\d{8}$
anthropic claude-opus-5-5 1000000 4/0.2/5/20 =claude-opus-5-5 ^claude-5-5-opus ^claude-5.5-opus ^claude-opus-5.5 ~^claude-opus-5-5-\d{8}$
anthropic claude-sonnet-4-0 200000 3/0.3/3.75/15 =claude-sonnet-4 =claude-sonnet-4-0 ^claude-4-sonnet ^claude-sonnet-4-0 ^claude-sonnet-4-2025 ^claude-sonnet-4@
anthropic claude-sonnet-4-5 200000 3/0.3/3.75/15 =claude-sonnet-4-5 ^claude-sonnet-4-5 ^claude-sonnet-4.5
anthropic claude-sonnet-4-6 1000000 3/0.3/3.75/15 =claude-sonnet-4-6 ^claude-sonnet-4-6 ^claude-sonnet-4.6
anthropic claude-sonnet-5 1000000 2/0.2/2.5/10 =claude-sonnet-5 ^claude-5-sonnet ^claude-5.0-sonnet ^claude-sonnet-5.0 ^claude-sonnet-5@ ~^claude-sonnet-5-\d{8}$
anthropic claude-sonnet-5-5 1000000 2/0.1/2.5/10 =claude-sonnet-5-5 ^claude-5-5-sonnet ^claude-5.5-sonnet ^claude-sonnet-5-5@ ^claude-sonnet-5.5 ~^claude-sonnet-5-5-\d{8}$
openai babbage-002 -/16384 0.4/-/-/0.4 =babbage-002
openai chatgpt-4o-latest 128000 5/-/-/15 =chatgpt-4o-latest
openai codex-mini 200000 1.5/0.375/-/6 =codex-mini =codex-mini-latest
openai computer-use 8192 3/-/-/12 =computer-use ^computer-use
openai davinci-002 -/16384 2/-/-/2 =davinci-002
openai ft:gpt-3.5-turbo- -/16385 3/-/-/6 =ft:gpt-3.5-turbo- ^ft:gpt-3.5-turbo
openai gpt-3.5-turbo 16385 0.5/-/-/1.5 =gpt-3.5-turbo =gpt-3.5-turbo-0125 =gpt-35-turbo
openai gpt-3.5-turbo-0613 16385 1.5/-/-/2 =gpt-3.5-turbo-0613
openai gpt-3.5-turbo-1106 16385 1/-/-/2 =gpt-3.5-turbo-1106
openai gpt-3.5-turbo-16k 16385 3/-/-/4 =gpt-3.5-turbo-16k =gpt-3.5-turbo-16k-0613 =gpt-35-turbo-16k =gpt-35-turbo-16k-0613
openai gpt-3.5-turbo-instruct 16385/8192 1.5/-/-/2 =gpt-3.5-turbo-instruct =gpt-3.5-turbo-instruct-0914 ^gpt-3.5-turbo-instruct
openai gpt-4 8192 30/-/-/60 =gpt-4 =gpt-4-0314 =gpt-4-0613 ^ft:gpt-4-0
openai gpt-4-32k 32000 60/-/-/120 =gpt-4-32k =gpt-4-32k-0314 =gpt-4-32k-0613
openai gpt-4-turbo 128000 10/-/-/30 =gpt-4-0125-preview =gpt-4-1106-preview =gpt-4-turbo =gpt-4-turbo-0125-preview =gpt-4-turbo-2024-04-09 =gpt-4-turbo-preview
openai gpt-4-vision-preview 128000 10/-/-/30 =gpt-4-1106-vision-preview =gpt-4-vision-preview
openai gpt-4.1 1000000/1047576 2/0.5/-/8 =gpt-4.1 =gpt-4.1-2025-04-14
openai gpt-4.1-mini 1000000/1047576 0.4/0.1/-/1.6 =gpt-4.1-mini =gpt-4.1-mini-2025-04-14
openai gpt-4.1-nano 1000000/1047576 0.1/0.025/-/0.4 =gpt-4.1-nano =gpt-4.1-nano-2025-04-14
openai gpt-4o 128000 2.5/1.25/-/10 =gpt-4o =gpt-4o-2024-08-06 =gpt-4o-2024-11-20
openai gpt-4o-2024-05-13 128000 5/-/-/15 =gpt-4o-2024-05-13
openai gpt-4o-mini 128000 0.15/0.075/-/0.6 =gpt-4o-mini =gpt-4o-mini-2024-07-18 =gpt-4o-mini-search-preview =gpt-4o-mini-search-preview-2025-03-11
openai gpt-4o-search-preview 128000 2.5/-/-/10 =gpt-4o-search-preview =gpt-4o-search-preview-2025-03-11
openai gpt-5 400000/272000 1.25/0.125/-/10 =gpt-5 =gpt-5-2025-08-07 =gpt-5-chat =gpt-5-chat-latest =gpt-5-codex
openai gpt-5-mini 400000/272000 0.25/0.025/-/2 =gpt-5-mini =gpt-5-mini-2025-08-07
openai gpt-5-nano 400000/272000 0.05/0.005/-/0.4 =gpt-5-nano ^gpt-5-nano-
openai gpt-5-pro 400000 15/-/-/120 =gpt-5-pro =gpt-5-pro-2025-10-06
openai gpt-5-search-api -/272000 1.25/0.125/-/10 =gpt-5-search-api
openai gpt-5.1 400000/272000 1.25/0.125/-/10 =gpt-5-1 =gpt-5-1-2025-11-13 =gpt-5-1-chat =gpt-5-1-chat-latest =gpt-5-1-codex =gpt-5-1-codex-max =gpt-5.1 =gpt-5.1-2025-11-13 =gpt-5.1-chat =gpt-5.1-chat-latest =gpt-5.1-codex =gpt-5.1-codex-max
openai gpt-5.1-codex-mini 400000 0.25/0.025/-/2 =gpt-5-1-codex-mini =gpt-5-1-mini =gpt-5.1-codex-mini =gpt-5.1-mini
openai gpt-5.2 400000/272000 1.75/0.175/-/14 =gpt-5-2 =gpt-5-2-2025-12-11 =gpt-5-2-chat =gpt-5-2-chat-latest =gpt-5-2-codex =gpt-5.2 =gpt-5.2-2025-12-11 =gpt-5.2-chat =gpt-5.2-chat-latest =gpt-5.2-codex
openai gpt-5.2-pro 400000/272000 21/-/-/168 =gpt-5-2-pro-2025-12-11 =gpt-5.2-pro =gpt-5.2-pro-2025-12-11
openai gpt-5.3 128000 1.75/0.175/-/14 =gpt-5-3 =gpt-5-3-chat =gpt-5-3-chat-latest =gpt-5.3 =gpt-5.3-chat =gpt-5.3-chat-latest
openai gpt-5.3-codex 400000/272000 1.75/0.175/-/14 =gpt-5-3-codex =gpt-5.3-codex
openai gpt-5.4 1050000 2.5/0.25/-/15 =gpt-5-4 =gpt-5-4-2026-03-05 =gpt-5.4 =gpt-5.4-2026-03-05
openai gpt-5.4-mini 400000/272000 0.75/0.075/-/4.5 =gpt-5-4-mini =gpt-5-4-mini-2026-03-17 =gpt-5.4-mini =gpt-5.4-mini-2026-03-17
openai gpt-5.4-nano 400000/272000 0.2/0.02/-/1.25 =gpt-5-4-nano =gpt-5-4-nano-2026-03-17 =gpt-5.4-nano =gpt-5.4-nano-2026-03-17
openai gpt-5.4-pro 1050000 30/-/-/180 =gpt-5-4-pro =gpt-5-4-pro-2026-03-05 =gpt-5.4-pro =gpt-5.4-pro-2026-03-05
openai gpt-5.5 1000000/1050000 5/0.5/-/30 =gpt-5-5 =gpt-5-5-2026-04-23 =gpt-5-5-2026-04-24 =gpt-5-5-chat =gpt-5-5-chat-latest =gpt-5-5-codex =gpt-5.5 =gpt-5.5-2026-04-23 =gpt-5.5-2026-04-24 =gpt-5.5-chat =gpt-5.5-chat-latest =gpt-5.5-codex
openai gpt-5.5-pro 1000000/1050000 30/-/-/180 =gpt-5-5-pro =gpt-5-5-pro-2026-04-23 =gpt-5.5-pro =gpt-5.5-pro-2026-04-23
openai gpt-5.6-cyber -/272000 12.5/1.25/15.625/75 =gpt-5.6-cyber
openai gpt-5.6-luna 1050000/922000 0.2/0.02/0.25/1.2 =gpt-5-6-luna =gpt-5.6-luna ~^gpt-5-6-luna-\d{4}-\d{2}-\d{2}$ ~^gpt-5\.6-luna-\d{4}-\d{2}-\d{2}$
openai gpt-5.6-sol 1050000/922000 4/0.4/5/20 =gpt-5-6 =gpt-5-6-sol =gpt-5.6 =gpt-5.6-sol ~^gpt-5-6-sol-\d{4}-\d{2}-\d{2}$ ~^gpt-5\.6-sol-\d{4}-\d{2}-\d{2}$
openai gpt-5.6-terra 1050000/922000 2/0.2/2.5/12 =gpt-5-6-terra =gpt-5.6-terra ~^gpt-5-6-terra-\d{4}-\d{2}-\d{2}$ ~^gpt-5\.6-terra-\d{4}-\d{2}-\d{2}$
openai gpt-6-astra 1050000/922000 10/1/12.5/50 =gpt-6-astra ~^gpt-6-astra-\d{4}-\d{2}-\d{2}$
openai gpt-6-cyber -/922000 20/2/25/100 =gpt-6-cyber
openai gpt-6-luna 1050000/922000 0.1/0.01/0.125/0.5 =gpt-6-luna ~^gpt-6-luna-\d{4}-\d{2}-\d{2}$
openai gpt-6-rosalind -/922000 15/1.5/18.75/75 =gpt-6-rosalind
openai gpt-6-sol 1050000/922000 2/0.2/2.5/10 =gpt-6-sol ~^gpt-6-sol-\d{4}-\d{2}-\d{2}$
openai gpt-6.1-sol 1050000/922000 2/0.1/2.5/10 =gpt-6.1-sol ~^gpt-6\.1-sol-\d{4}-\d{2}-\d{2}$
openai gpt-6.1-terra 1050000/922000 1/0.05/1.25/5 =gpt-6.1-terra ~^gpt-6\.1-terra-\d{4}-\d{2}-\d{2}$
openai gpt-chat-latest -/400000 5/0.5/-/30 =chat-latest =gpt-chat-latest
openai gpt-oss-120b 131072 0.039/-/-/0.18 =gpt-oss-120b
openai gpt-oss-20b 131072 0.029/-/-/0.14 =gpt-oss-20b
openai o1 200000 15/7.5/-/60 =o1 =o1-2024-12-17
openai o1-mini 128000 1.1/0.55/-/4.4 =o1-mini =o1-mini-2024-09-12
openai o1-preview 128000 15/7.5/-/60 =o1-preview =o1-preview-2024-09-12
openai o1-pro 200000 150/-/-/600 =o1-pro =o1-pro-2025-03-19
openai o3 200000 2/0.5/-/8 =o3 =o3-2025-04-16
openai o3-deep-research 200000 10/2.5/-/40 =o3-deep-research =o3-deep-research-2025-06-26
openai o3-mini 200000 1.1/0.55/-/4.4 =o3-mini =o3-mini-2025-01-31 =o3-mini-high
openai o3-pro 200000 20/-/-/80 =o3-pro =o3-pro-2025-06-10
openai o4-mini 200000 1.1/0.275/-/4.4 =o4-mini =o4-mini-2025-04-16 =o4-mini-high
openai o4-mini-deep-research 200000 2/0.5/-/8 =o4-mini-deep-research =o4-mini-deep-research-2025-06-26
google claude-3-5-haiku 200000 0.8/0.08/1/4 *claude-3-5-haiku =claude-3-5-haiku
google claude-3-5-sonnet 200000 3/0.3/3.75/15 *claude-3-5-sonnet =claude-3-5-sonnet
google claude-3-7-sonnet 200000 3/0.3/3.75/15 *claude-3-7-sonnet =claude-3-7-sonnet
google claude-3-haiku 200000 0.25/0.03/0.3/1.25 *claude-3-haiku =claude-3-haiku
google claude-3-opus 200000 15/1.5/18.75/75 *claude-3-opus =claude-3-opus
google claude-4-opus 200000 15/1.5/18.75/75 *claude-4-opus *claude-opus-4-0 *claude-opus-4-1 *claude-opus-4@ =claude-4-opus =claude-opus-4
google claude-4-sonnet 200000 3/0.3/3.75/15 *claude-4-sonnet *claude-sonnet-4-0 *claude-sonnet-4-2025 *claude-sonnet-4@ =anthropic/claude-sonnet-4 =claude-4-sonnet =claude-sonnet-4
google claude-fable-5 1000000 10/1/12.5/50 $claude-fable-5 *claude-fable-5@ =claude-fable-5
google claude-fable-5-1 1000000 10/0.25/12.5/50 $claude-fable-5-1 *claude-fable-5-1@ =claude-fable-5-1
google claude-fable-5-2 1000000 8/0.2/10/40 $claude-fable-5-2 *claude-fable-5-2@ =claude-fable-5-2
google claude-haiku-4-5 200000 1/0.1/1.25/5 *claude-haiku-4-5 *claude-haiku-4.5 =claude-haiku-4-5
google claude-haiku-5-5 1000000 0.1/0.01/0.125/0.5 *claude-5-5-haiku *claude-5.5-haiku *claude-haiku-5-5 *claude-haiku-5.5 =claude-haiku-5-5
google claude-opus-4-5 200000 5/0.5/6.25/25 *claude-4-5-opus *claude-4.5-opus *claude-opus-4-5 *claude-opus-4.5 =claude-opus-4-5
google claude-opus-4-6 1000000 5/0.5/6.25/25 *claude-4-6-opus *claude-4.6-opus *claude-opus-4-6 *claude-opus-4.6 =claude-opus-4-6
google claude-opus-4-7 1000000 5/0.5/6.25/25 *claude-4-7-opus *claude-4.7-opus *claude-opus-4-7 *claude-opus-4.7 =claude-opus-4-7
google claude-opus-4-8 1000000 5/0.5/6.25/25 *claude-4-8-opus *claude-4.8-opus *claude-opus-4-8 *claude-opus-4.8 =claude-opus-4-8
google claude-opus-5 1000000 5/0.5/6.25/25 $claude-opus-5 *claude-5-opus *claude-5.0-opus *claude-opus-5.0 *claude-opus-5@ =claude-opus-5
google claude-opus-5-5 1000000 4/0.2/5/20 $claude-opus-5-5 *claude-5-5-opus *claude-5.5-opus *claude-opus-5-5@ *claude-opus-5.5 =claude-opus-5-5
google claude-sonnet-4-5 200000 3/0.3/3.75/15 *claude-sonnet-4-5 *claude-sonnet-4.5 =claude-sonnet-4-5
google claude-sonnet-4-6 1000000 3/0.3/3.75/15 *claude-sonnet-4-6 *claude-sonnet-4.6 =claude-sonnet-4-6
google claude-sonnet-5-5 1000000 2/0.1/2.5/10 *claude-5-5-sonnet *claude-5.5-sonnet *claude-sonnet-5-5 *claude-sonnet-5.5 =claude-sonnet-5-5
google gemini-1.0-pro-vision-001 32768 0.125/-/-/0.375 =gemini-1.0-pro-vision-001
google gemini-1.5-flash 1000000 0.075/0.01875/-/0.3 *gemini-1.5-flash =gemini-1.5-flash
google gemini-1.5-pro 1000000 1.25/-/-/5 *gemini-1.5-pro =gemini-1.5-pro
google gemini-2.0-flash 1000000 0.1/0.025/-/0.4 $gemini-2.0-flash *gemini-2.0-flash-0 *gemini-2.0-flash-exp *gemini-2.0-flash-latest *gemini-2.0-flash-thinking =gemini-2.0-flash
google gemini-2.0-flash-lite 1000000 0.075/-/-/0.3 *gemini-2.0-flash-lite =gemini-2.0-flash-lite
google gemini-2.5-flash 1048576 0.3/0.03/-/2.5 =gemini-2.5-flash =gemini-2.5-flash-latest =gemini-2.5-flash-preview-09-2025
google gemini-2.5-flash-lite 1000000/1048576 0.1/0.01/-/0.4 =gemini-2.5-flash-lite
google gemini-2.5-pro -/1048576 1.25/0.125/-/10 =gemini-2.5-pro
google gemini-3-flash-preview 1000000/1048576 0.5/0.05/-/3 =gemini-3-flash-preview ^gemini-3-flash-preview-
google gemini-3-pro-preview -/1048576 2/0.2/-/12 =gemini-3-pro-preview =gemini-3-pro-text-preview ^gemini-3-pro-preview
google gemini-3.1-flash-lite 1000000/1048576 0.25/0.025/-/1.5 =gemini-3.1-flash-lite ^gemini-3.1-flash-lite-preview
google gemini-3.1-pro-preview -/1048576 2/0.2/-/12 =gemini-3.1-pro-preview =gemini-pro-latest ^gemini-3.1-pro-preview
google gemini-3.5-flash 1000000/1048576 1.5/0.15/-/9 =gemini-3.5-flash ^gemini-3.5-flash-preview ~^gemini-3\.5-flash-\d
google gemini-3.5-flash-lite 1000000/1048576 0.3/0.03/-/2.5 =gemini-3.5-flash-lite =gemini-flash-lite-latest ^gemini-3.5-flash-lite
google gemini-3.6-flash 1000000/1048576 0.75/0.075/-/3.75 =gemini-3.6-flash ^gemini-3.6-flash
google gemini-3.7-flash 1000000/1048576 0.75/0.075/-/3.75 =gemini-3.7-flash ^gemini-3.7-flash
google gemini-3.8-flash 1000000/1048576 0.75/0.075/-/3.75 =gemini-3.8-flash =gemini-flash-latest
google gemini-3.8-live 131072 0.75/-/-/4.5 =gemini-3.8-live ^gemini-3.8-live
google gemini-4-argon 1048576 2/0.1/-/10 =gemini-4-argon ^gemini-4-argon-preview ~^gemini-4-argon-\d
google gemini-flash-1.5-8b 1000000 0.0375/0.01/-/0.15 =gemini-flash-1.5-8b
google gemini-omni-1.1-flash -/131072 1.5/-/-/9 =gemini-omni-1.1-flash
google gemini-omni-flash-preview -/131072 1.5/-/-/9 =gemini-omni-flash-preview ^gemini-omni-flash-preview
google gemini-pro 32768 0.125/-/-/0.375 =gemini-1.0-pro =gemini-pro
google gemini-pro-1.5 2000000 1.25/0.3125/-/5 =gemini-pro-1.5
google gemini-robotics-er-2-preview -/131072 1/0.1/-/5 =gemini-robotics-er-2-preview
google gemini-robotics-er-2-streaming-preview -/131072 1/-/-/5 =gemini-robotics-er-2-streaming-preview
google gemma-4-26b-a4b-it 262144 -/-/-/- =gemma-4-26b-a4b-it
google gemma-4-26b-a4b-it-maas 262144 0.15/0.015/-/0.6 =gemma-4-26b-a4b-it-maas
google gemma-4-31b-it 262144 -/-/-/- =gemma-4-31b-it
mistral codestral 256000/128000 0.3/-/-/0.9 =codestral =codestral-2501 =codestral-latest
mistral codestral-2508 256000/128000 0.3/0.03/-/0.9 =codestral-2508
mistral deepseek-v4-1-flash-1017 -/1048576 0.3/0.007/-/1.2 =deepseek-v4-1-flash-1017
mistral devstral-2512 262144 0.4/0.04/-/2 =devstral-2512
mistral devstral-small -/256000 0.1/-/-/0.3 =devstral-small =devstral-small-2505 =devstral-small-2507 =devstral-small-latest =labs-devstral-small-2512
mistral ministral-14b-2512 262144 0.2/0.02/-/0.2 =ministral-14b-2512
mistral ministral-3b-2512 131072 0.1/0.01/-/0.1 =ministral-3b-2512
mistral ministral-8b-2512 262144 0.15/0.015/-/0.15 =ministral-8b-2512
mistral ministral-8b-latest -/262144 0.15/0.015/-/0.15 =ministral-8b-latest
mistral mistral-large -/262144 2/-/-/6 =mistral-large =mistral-large-2407 =mistral-large-2411 =mistral-large-latest
mistral mistral-large-2512 262144 0.5/0.05/-/1.5 =mistral-large-2512
mistral mistral-large-4 1048576 0.7/0.07/-/2.1 =mistral-large-4 =mistral-large-4-0
mistral mistral-medium-3-1 -/262144 0.4/0.04/-/2 =mistral-medium =mistral-medium-2505 =mistral-medium-2508 =mistral-medium-3-1
mistral mistral-medium-3-5 262144 1.5/0.15/-/7.5 =mistral-medium-2604 =mistral-medium-3 =mistral-medium-3-5 =mistral-medium-3.5
mistral mistral-medium-latest -/262144 1.5/0.15/-/7.5 =mistral-medium-latest
mistral mistral-nemo -/128000 0.15/-/-/0.15 =mistral-nemo =open-mistral-nemo
mistral mistral-ocr-2512 16384 -/-/-/- =mistral-ocr-2512 =mistral-ocr-2512-completion
mistral mistral-ocr-4-0 16384 -/-/-/- =mistral-ocr-4-0 =mistral-ocr-4-0-completion
mistral mistral-ocr-4-1 16384 -/-/-/- =mistral-ocr-4 =mistral-ocr-4-1 =mistral-ocr-4-1-completion =mistral-ocr-4-completion
mistral mistral-small-2603 262144 0.15/0.015/-/0.6 =mistral-small-2603
mistral mistral-small-latest -/262144 0.15/0.015/-/0.6 =mistral-small-latest
mistral mistral-tiny -/32000 0.25/-/-/0.25 =mistral-tiny
mistral pixtral-large -/128000 2/-/-/6 =pixtral-large =pixtral-large-2411 =pixtral-large-latest
mistral voxtral-mini-2602 16384 -/-/-/- =voxtral-mini-2602 =voxtral-mini-latest
mistral voxtral-small-24b-2507 32768 0.1/0.01/-/0.4 =voxtral-small-24b-2507 =voxtral-small-2507 =voxtral-small-latest
mistral zai-glm-5-3 -/1048576 1.4/0.14/-/4.4 =zai-glm-5-3
mistral zai-glm-5-3-flash -/1048576 0.15/0.03/-/0.5 =zai-glm-5-3-flash
deepseek deepseek-chat 64000/131072 0.27/0.07/-/1.1 =deepseek-chat =deepseek-chat-v3-0324 ^deepseek-chat
deepseek deepseek-flash 1000000 0.3/0.006/-/1.2 =deepseek-flash
deepseek deepseek-reasoner 64000/131072 0.55/0.14/-/2.19 =deepseek-r1-0528 =deepseek-reasoner ^deepseek-r1
deepseek deepseek-v3.1-terminus 128000 0.27/0.13/-/0.95 =deepseek-v3.1-terminus
deepseek deepseek-v3.2 128000/163840 0.2288/-/-/0.3432 =deepseek-v3.2
deepseek deepseek-v3.2-exp 128000 0.27/-/-/0.41 =deepseek-v3.2-exp
deepseek deepseek-v4-flash 1000000 0.3/0.006/-/1.2 =deepseek-v4-flash ^deepseek-v4-flash
deepseek deepseek-v4-pro 1000000 1.32/0.044/-/3.96 =deepseek-v4-pro ^deepseek-v4-pro
x-ai grok-2-1212 32768 2/-/-/10 =grok-2 =grok-2-1212 =grok-2-latest
x-ai grok-2-vision-1212 32768 2/-/-/10 =grok-2-vision =grok-2-vision-1212 =grok-2-vision-latest
x-ai grok-3 131072 3/0.75/-/15 =grok-3 =grok-3-beta =grok-3-latest
x-ai grok-3-fast 131072 5/1.25/-/25 =grok-3-fast =grok-3-fast-beta =grok-3-fast-latest
x-ai grok-3-mini 131072 0.3/0.075/-/0.5 =grok-3-mini =grok-3-mini-beta =grok-3-mini-latest
x-ai grok-3-mini-fast 131072 0.6/0.15/-/4 =grok-3-mini-fast =grok-3-mini-fast-beta =grok-3-mini-fast-latest
x-ai grok-4-0709 256000 3/0.75/-/15 =grok-4 =grok-4-0709 =grok-4-latest
x-ai grok-4-1-fast-non-reasoning 2000000 0.2/0.05/-/0.5 =grok-4-1-fast-non-reasoning =grok-4-1-fast-non-reasoning-latest
x-ai grok-4-1-fast-reasoning 2000000 0.2/0.05/-/0.5 =grok-4-1-fast =grok-4-1-fast-reasoning =grok-4-1-fast-reasoning-latest
x-ai grok-4-fast-non-reasoning 2000000 0.2/0.05/-/0.5 =grok-4-fast-non-reasoning =grok-4-fast-non-reasoning-latest
x-ai grok-4-fast-reasoning 2000000 0.2/0.05/-/0.5 =grok-4-fast =grok-4-fast-reasoning =grok-4-fast-reasoning-latest
x-ai grok-4.20 1000000 1.25/0.2/-/2.5 =grok-4.20 =grok-4.20-0309-non-reasoning =grok-4.20-0309-reasoning
x-ai grok-4.20-multi-agent-0309 1000000 1.25/0.2/-/2.5 =grok-4.20-multi-agent =grok-4.20-multi-agent-0309 =grok-4.20-multi-agent-beta-0309 =grok-4.20-multi-agent-beta-latest =grok-4.20-multi-agent-latest
x-ai grok-4.3 1000000 1.25/0.2/-/2.5 =grok-4.3 =grok-4.3-latest =x-ai/grok-4.3 ~^grok-4\.3-\d{8}$ ~^x-ai/grok-4\.3-\d{8}$
x-ai grok-4.5 500000 2/0.3/-/6 =grok-4.5 =grok-4.5-latest =grok-latest =x-ai/grok-4.5 ~^grok-4\.5-\d{8}$ ~^x-ai/grok-4\.5-\d{8}$
x-ai grok-4.6 500000 2/0.5/-/6 =grok-4.6 =grok-4.6-latest =x-ai/grok-4.6 ~^grok-4\.6-\d{8}$ ~^x-ai/grok-4\.6-\d{8}$
x-ai grok-4.7 500000 2/0.5/-/6 =grok-4.7 =grok-4.7-latest =x-ai/grok-4.7 ~^grok-4\.7-\d{8}$ ~^x-ai/grok-4\.7-\d{8}$
x-ai grok-build-0.1 256000 1/0.2/-/2 =grok-build-0.1
x-ai grok-code-fast-1 256000 0.2/0.02/-/1.5 =grok-code-fast =grok-code-fast-1 =grok-code-fast-1-0825
moonshotai kimi-k2-0711-preview 131072 0.6/0.15/-/2.5 =kimi-k2-0711-preview
moonshotai kimi-k2-0905-preview 262144 0.6/0.15/-/2.5 =kimi-k2-0905-preview
moonshotai kimi-k2-thinking 262144 0.6/0.15/-/2.5 =kimi-k2-thinking
moonshotai kimi-k2-thinking-turbo 262144 1.15/0.15/-/8 =kimi-k2-thinking-turbo
moonshotai kimi-k2-turbo-preview 262144 1.15/0.15/-/8 =kimi-k2-turbo-preview ^kimi-k2-turbo
moonshotai kimi-k2.5 262144 0.6/0.1/-/3 =kimi-k2.5 ^kimi-k2.5
moonshotai kimi-k2.6 262144 0.95/0.16/-/4 =kimi-k2.6 ^kimi-k2.6
moonshotai kimi-k2.7-code 262144 0.95/0.19/-/4 =kimi-k2.7-code
moonshotai kimi-k2.7-code-highspeed 262144 1.9/0.38/-/8 =kimi-k2.7-code-highspeed
moonshotai kimi-k3 1048576 3/0.3/3/15 =kimi-k3
moonshotai kimi-k3.1-pro 1048576 2/0.2/2/10 =kimi-k3.1-pro
moonshotai kimi-k3.1-pro-highspeed 1048576 4/0.2/4/20 =kimi-k3.1-pro-highspeed
moonshotai moonshot-v1-128k 131072 2/-/-/5 =moonshot-v1-128k =moonshot-v1-128k-vision-preview
moonshotai moonshot-v1-32k 32768 1/-/-/3 =moonshot-v1-32k =moonshot-v1-32k-vision-preview
moonshotai moonshot-v1-8k 8192 0.2/-/-/2 =moonshot-v1-8k =moonshot-v1-8k-vision-preview
cohere c4ai-aya-expanse-32b 128000 0.5/-/-/1.5 *aya-expanse-32b =c4ai-aya-expanse-32b
cohere c4ai-aya-expanse-8b 8192 0.5/-/-/1.5 *aya-expanse-8b =c4ai-aya-expanse-8b
cohere command-a -/256000 2.5/-/-/10 =command-a =command-a-03-2025
cohere command-light 4096 0.3/-/-/0.6 =command-light ^command-light
cohere command-r -/128000 0.15/-/-/0.6 =command-r =command-r-08-2024
cohere command-r-plus -/128000 2.5/-/-/10 =command-r-plus =command-r-plus-08-2024
cohere command-r7b -/128000 0.0375/-/-/0.15 =command-r7b =command-r7b-12-2024
minimax m2-her 64000 0.3/-/-/1.2 =m2-her
minimax minimax-m2 204800/200000 0.3/0.03/0.375/1.2 =minimax-m2 =minimax-m2.1 =minimax-m2.5
minimax minimax-m2.1-highspeed 204800 0.6/0.03/0.375/2.4 *m2.1-highspeed =minimax-m2.1-highspeed
minimax minimax-m2.5-highspeed 204800 0.6/0.03/0.375/2.4 *m2.5-highspeed =minimax-m2.5-highspeed
minimax minimax-m2.7 204800 0.3/0.06/0.375/1.2 =minimax-m2.7
minimax minimax-m2.7-highspeed 204800 0.6/0.06/0.375/2.4 *m2.7-highspeed =minimax-m2.7-highspeed
minimax minimax-m3.1-flash 1000000 0.15/0.015/-/0.6 =minimax-m3.1-flash
minimax minimax-01 1000192 0.2/-/-/1.1 =minimax-01
minimax minimax-m3 1000000 0.3/0.06/-/1.2 =minimax-m3
zai glm-4-32b-0414-128k -/128000 0.1/-/-/0.1 =glm-4-32b-0414-128k
zai glm-4.5 -/128000 0.6/0.11/-/2.2 =glm-4.5
zai glm-4.5-air -/128000 0.2/0.03/-/1.1 =glm-4.5-air
zai glm-4.5-airx -/128000 1.1/0.22/-/4.5 =glm-4.5-airx
zai glm-4.5-x -/128000 2.2/0.45/-/8.9 =glm-4.5-x
zai glm-4.5v -/128000 0.6/0.11/-/1.8 =glm-4.5v
zai glm-4.6 -/200000 0.6/0.11/-/2.2 =glm-4.6
zai glm-4.6v 128000 0.3/0.05/-/0.9 =glm-4.6v
zai glm-4.7 -/200000 0.6/0.11/-/2.2 =glm-4.7
zai glm-5 -/200000 1/0.2/-/3.2 =glm-5
zai glm-5.1 -/200000 1.4/0.26/-/4.4 =glm-5.1
zai glm-5.2 1000000 1.4/0.26/-/4.4 =glm-5.2
zai glm-5.3 1000000 1.4/0.26/-/4.4 =glm-5.3
zai glm-5.3-flash 1000000/1048576 0.15/0.03/-/0.5 =glm-5.3-flash
meta muse-spark-1.1 1048576 1.25/0.15/-/4.25 =muse-spark-1.1
meta muse-spark-1.2 1048576 1.25/0.15/-/4.25 =muse-spark-1.2
meta muse-spark-1.2-contributor 1048576 0.1/0.002/-/0.2 =muse-spark-1.2-contributor
meta muse-spark-1.3 1048576 1.25/0.15/-/4.25 =muse-spark-1.3
meta muse-spark-1.3-contributor 1048576 0.1/0.002/-/0.2 =muse-spark-1.3-contributor
meta muse-wonder-1.0 1048576 4/0.2/-/20 =muse-wonder-1.0
perplexity perplexity/sonar -/128000 0.25/0.0625/-/2.5 =perplexity/sonar
perplexity pplx-decider-v1-27b 262144 0.02/-/-/- =pplx-decider-v1-27b
perplexity pplx-decider-v1.1-27b 262144 0.02/-/-/- =pplx-decider-v1.1-27b
perplexity sonar 128000 1/-/-/1 =sonar
perplexity sonar-deep-research 128000 2/-/-/8 =sonar-deep-research
perplexity sonar-pro 200000 3/-/-/15 =sonar-pro
perplexity sonar-reasoning -/128000 1/-/-/5 =sonar-reasoning
perplexity sonar-reasoning-pro 128000 2/-/-/8 =sonar-reasoning-pro
aws amazon.nova-2-sonic-v1:0 1000000 0.33/-/-/2.75 *amazon.nova-2-sonic =amazon.nova-2-sonic-v1:0
aws amazon.nova-lite-v1:0 300000 0.06/0.015/-/0.24 *amazon.nova-lite =amazon.nova-lite-v1:0
aws amazon.nova-micro-v1:0 128000 0.035/0.00875/-/0.14 *amazon.nova-micro =amazon.nova-micro-v1:0
aws amazon.nova-premier-v1:0 1000000 2.5/0.625/-/12.5 *amazon.nova-premier =amazon.nova-premier-v1:0
aws amazon.nova-pro-v1:0 300000 0.8/0.2/-/3.2 *amazon.nova-pro =amazon.nova-pro-v1:0
aws amazon.titan-text-express-v1 -/42000 0.2/-/-/0.6 *titan-text-express =amazon.titan-text-express-v1
aws amazon.titan-text-lite-v1 -/42000 0.15/-/-/0.2 *titan-text-lite =amazon.titan-text-lite-v1
aws deepseek.r1-v1:0 128000 1.35/-/-/5.4 *deepseek.r1 =deepseek.r1-v1:0
aws global.amazon.nova-2-lite-v1:0 1000000 0.3/0.075/-/2.5 *global.amazon.nova-2-lite =global.amazon.nova-2-lite-v1:0
aws global.anthropic.claude-fable-5-1-v1:0 1000000 10/0.25/12.5/50 $global.anthropic.claude-fable-5-1 *global.anthropic.claude-fable-5-1-v1 =global.anthropic.claude-fable-5-1-v1:0
aws global.anthropic.claude-fable-5-2 1000000 8/0.2/10/40 $global.anthropic.claude-fable-5-2 *global.anthropic.claude-fable-5-2-v1 =global.anthropic.claude-fable-5-2
aws global.anthropic.claude-fable-5-v1:0 1000000 10/1/12.5/50 $global.anthropic.claude-fable-5 *global.anthropic.claude-fable-5-v1 =global.anthropic.claude-fable-5-v1:0
aws global.anthropic.claude-haiku-4-5-20251001-v1:0 200000 1/0.1/1.25/5 *global.anthropic.claude-haiku-4-5-20251001 =global.anthropic.claude-haiku-4-5-20251001-v1:0
aws global.anthropic.claude-haiku-5-5 1000000 0.1/0.01/0.125/0.5 $global.anthropic.claude-haiku-5-5 *global.anthropic.claude-haiku-5-5-v1 =global.anthropic.claude-haiku-5-5
aws global.anthropic.claude-mythos-5-2 1000000 8/0.2/10/40 $global.anthropic.claude-mythos-5-2 *global.anthropic.claude-mythos-5-2-v1 =global.anthropic.claude-mythos-5-2
aws global.anthropic.claude-opus-4-5-v1:0 200000 5/0.5/6.25/25 *global.anthropic.claude-opus-4-5 =global.anthropic.claude-opus-4-5-v1:0
aws global.anthropic.claude-opus-4-6-v1:0 1000000 5/0.5/6.25/25 *global.anthropic.claude-opus-4-6 =global.anthropic.claude-opus-4-6-v1:0
aws global.anthropic.claude-opus-4-7-v1:0 1000000 5/0.5/6.25/25 *global.anthropic.claude-opus-4-7 =global.anthropic.claude-opus-4-7-v1:0
aws global.anthropic.claude-opus-4-8-v1:0 1000000 5/0.5/6.25/25 *global.anthropic.claude-opus-4-8 =global.anthropic.claude-opus-4-8-v1:0
aws global.anthropic.claude-opus-5 1000000 5/0.5/6.25/25 $global.anthropic.claude-opus-5 *global.anthropic.claude-opus-5-v1 =global.anthropic.claude-opus-5
aws global.anthropic.claude-opus-5-5 1000000 4/0.2/5/20 $global.anthropic.claude-opus-5-5 *global.anthropic.claude-opus-5-5-v1 =global.anthropic.claude-opus-5-5
aws global.anthropic.claude-sonnet-4-20250514-v1:0 200000 3/0.3/3.75/15 *global.anthropic.claude-sonnet-4-20250514 =global.anthropic.claude-sonnet-4-20250514-v1:0
aws global.anthropic.claude-sonnet-4-5-20250929-v1:0 200000 3/0.3/3.75/15 *global.anthropic.claude-sonnet-4-5-20250929 =global.anthropic.claude-sonnet-4-5-20250929-v1:0
aws global.anthropic.claude-sonnet-4-6-v1:0 1000000 3/0.3/3.75/15 *global.anthropic.claude-sonnet-4-6 =global.anthropic.claude-sonnet-4-6-v1:0
aws global.anthropic.claude-sonnet-5-5 1000000 2/0.1/2.5/10 $global.anthropic.claude-sonnet-5-5 *global.anthropic.claude-sonnet-5-5-v1 =global.anthropic.claude-sonnet-5-5
aws global.anthropic.claude-sonnet-5-v1:0 1000000 2/0.2/2.5/10 $global.anthropic.claude-sonnet-5 *global.anthropic.claude-sonnet-5-v1 =global.anthropic.claude-sonnet-5-v1:0
aws global.moonshotai.kimi-k3 1000000 3/0.3/3.75/15 $/global.moonshotai.kimi-k3 =global.moonshotai.kimi-k3
aws global.moonshotai.kimi-k3.1 1000000/868928 4/0.2/5/20 *global.moonshotai.kimi-k3.1 =global.moonshotai.kimi-k3.1
aws global.openai.gpt-5.6-luna 1000000/922000 0.2/0.02/0.25/1.2 *global.openai.gpt-5.6-luna =global.openai.gpt-5.6-luna
aws global.openai.gpt-5.6-sol 1000000/922000 4/0.4/5/20 *global.openai.gpt-5.6-sol =global.openai.gpt-5.6-sol
aws global.openai.gpt-5.6-terra 1000000/922000 2/0.2/2.5/12 *global.openai.gpt-5.6-terra =global.openai.gpt-5.6-terra
aws global.openai.gpt-6-astra 1050000/922000 10/1/12.5/50 *global.openai.gpt-6-astra =global.openai.gpt-6-astra
aws global.openai.gpt-6-luna 1000000/922000 0.1/0.01/0.125/0.5 *global.openai.gpt-6-luna =global.openai.gpt-6-luna
aws global.openai.gpt-6-sol 1000000/922000 2/0.2/2.5/10 *global.openai.gpt-6-sol =global.openai.gpt-6-sol
aws global.openai.gpt-6.1-sol 1000000 2/0.1/2.5/10 *global.openai.gpt-6.1-sol =global.openai.gpt-6.1-sol
aws global.openai.gpt-6.1-terra 1050000/922000 1/0.05/1.25/5 *global.openai.gpt-6.1-terra =global.openai.gpt-6.1-terra
aws global.zai.glm-5.3 1000000 1.68/0.312/2.1/5.28 $/global.zai.glm-5.3 =global.zai.glm-5.3
aws google.gemma-3-12b-it 128000 0.09/-/-/0.29 *google.gemma-3-12b-it =google.gemma-3-12b-it
aws google.gemma-3-27b-it 128000 0.23/-/-/0.38 *google.gemma-3-27b-it =google.gemma-3-27b-it
aws google.gemma-3-4b-it 128000 0.04/-/-/0.08 *google.gemma-3-4b-it =google.gemma-3-4b-it
aws meta.llama3-1-70b-instruct-v1:0 128000 0.72/-/-/0.72 *meta.llama3-1-70b-instruct =meta.llama3-1-70b-instruct-v1:0
aws meta.llama3-1-8b-instruct-v1:0 128000 0.22/-/-/0.22 *meta.llama3-1-8b-instruct =meta.llama3-1-8b-instruct-v1:0
aws meta.llama3-2-11b-instruct-v1:0 128000 0.16/-/-/0.16 *meta.llama3-2-11b-instruct =meta.llama3-2-11b-instruct-v1:0
aws meta.llama3-2-1b-instruct-v1:0 128000 0.1/-/-/0.1 *meta.llama3-2-1b-instruct =meta.llama3-2-1b-instruct-v1:0
aws meta.llama3-2-3b-instruct-v1:0 128000 0.15/-/-/0.15 *meta.llama3-2-3b-instruct =meta.llama3-2-3b-instruct-v1:0
aws meta.llama3-2-90b-instruct-v1:0 128000 0.72/-/-/0.72 *meta.llama3-2-90b-instruct =meta.llama3-2-90b-instruct-v1:0
aws meta.llama3-3-70b-instruct-v1:0 128000 0.72/-/-/0.72 *meta.llama3-3-70b-instruct =meta.llama3-3-70b-instruct-v1:0
aws meta.llama3-70b-instruct-v1:0 8192 2.65/-/-/3.5 *meta.llama3-70b-instruct =meta.llama3-70b-instruct-v1:0
aws meta.llama3-8b-instruct-v1:0 8192 0.3/-/-/0.6 *meta.llama3-8b-instruct =meta.llama3-8b-instruct-v1:0
aws meta.llama4-maverick-17b-instruct-v1:0 1000000 0.24/-/-/0.97 *meta.llama4-maverick-17b-instruct =meta.llama4-maverick-17b-instruct-v1:0
aws meta.llama4-scout-17b-instruct-v1:0 10000000 0.17/-/-/0.66 *meta.llama4-scout-17b-instruct =meta.llama4-scout-17b-instruct-v1:0
aws mistral.devstral-2-123b 256000 0.4/-/-/2 *mistral.devstral-2-123b =mistral.devstral-2-123b
aws mistral.magistral-small-2509 128000 0.5/-/-/1.5 *mistral.magistral-small-2509 =mistral.magistral-small-2509
aws mistral.ministral-3-14b-instruct 128000 0.2/-/-/0.2 *mistral.ministral-3-14b-instruct =mistral.ministral-3-14b-instruct
aws mistral.ministral-3-3b-instruct 128000 0.1/-/-/0.1 *mistral.ministral-3-3b-instruct =mistral.ministral-3-3b-instruct
aws mistral.ministral-3-8b-instruct 128000 0.15/-/-/0.15 *mistral.ministral-3-8b-instruct =mistral.ministral-3-8b-instruct
aws mistral.mistral-7b-instruct-v0:2 32000 0.15/-/-/0.2 *mistral.mistral-7b-instruct-v0 =mistral.mistral-7b-instruct-v0:2
aws mistral.mistral-large-2402-v1:0 32000 4/-/-/12 *mistral.mistral-large-2402 =mistral.mistral-large-2402-v1:0
aws mistral.mistral-large-3-675b-instruct 256000 0.5/-/-/1.5 *mistral.mistral-large-3-675b-instruct =mistral.mistral-large-3-675b-instruct
aws mistral.mistral-small-2402-v1:0 32000 1/-/-/3 *mistral.mistral-small-2402 =mistral.mistral-small-2402-v1:0
aws mistral.mixtral-8x7b-instruct-v0:1 32000 0.45/-/-/0.7 *mistral.mixtral-8x7b-instruct-v0 =mistral.mixtral-8x7b-instruct-v0:1
aws mistral.pixtral-large-2502-v1:0 128000 2/-/-/6 *mistral.pixtral-large-2502 =mistral.pixtral-large-2502-v1:0
aws mistral.voxtral-mini-3b-2507 32000/32768 0.04/-/-/0.04 *mistral.voxtral-mini-3b-2507 =mistral.voxtral-mini-3b-2507
aws mistral.voxtral-small-24b-2507 32000/32768 0.1/-/-/0.3 *mistral.voxtral-small-24b-2507 =mistral.voxtral-small-24b-2507
aws nvidia.nemotron-nano-3-30b:0 256000 0.06/-/-/0.24 *nvidia.nemotron-nano-3-30b =nvidia.nemotron-nano-3-30b:0
aws nvidia.nemotron-nano-9b-v2:0 128000 0.06/-/-/0.23 *nvidia.nemotron-nano-9b-v2 =nvidia.nemotron-nano-9b-v2:0
aws nvidia.nemotron-super-3-120b:0 256000 0.15/-/-/0.65 *nvidia.nemotron-super-3-120b =nvidia.nemotron-super-3-120b:0
aws openai.gpt-oss-120b-1:0 128000 0.15/-/-/0.6 *openai.gpt-oss-120b-1 =openai.gpt-oss-120b-1:0
aws openai.gpt-oss-20b-1:0 128000 0.07/-/-/0.3 *openai.gpt-oss-20b-1 =openai.gpt-oss-20b-1:0
aws qwen.qwen3-32b-v1:0 32000/32768 0.15/-/-/0.6 *qwen.qwen3-32b =qwen.qwen3-32b-v1:0
aws qwen.qwen3-coder-30b-a3b-v1:0 256000/262144 0.15/-/-/0.6 *qwen.qwen3-coder-30b-a3b =qwen.qwen3-coder-30b-a3b-v1:0
aws qwen.qwen3-coder-480b-a35b-v1:0 128000/262144 0.45/-/-/1.8 *qwen.qwen3-coder-480b-a35b =qwen.qwen3-coder-480b-a35b-v1:0
aws qwen.qwen3-vl-235b-a22b-v1:0 256000 0.53/-/-/2.66 *qwen.qwen3-vl-235b-a22b =qwen.qwen3-vl-235b-a22b-v1:0
aws regional.amazon.nova-2-lite-v1:0 1000000 0.33/0.0825/-/2.75 *eu.amazon.nova-2-lite *jp.amazon.nova-2-lite *us.amazon.nova-2-lite =regional.amazon.nova-2-lite-v1:0
aws regional.anthropic.claude-3-5-haiku-20241022-v1:0 200000 0.8/0.08/1/4 *claude-3-5-haiku-20241022 =regional.anthropic.claude-3-5-haiku-20241022-v1:0
aws regional.anthropic.claude-3-5-sonnet-20240620-v1:0 200000 3/0.3/3.75/15 *claude-3-5-sonnet-20240620 =regional.anthropic.claude-3-5-sonnet-20240620-v1:0
aws regional.anthropic.claude-3-5-sonnet-20241022-v2:0 200000 3/0.3/3.75/15 *claude-3-5-sonnet-20241022 =regional.anthropic.claude-3-5-sonnet-20241022-v2:0
aws regional.anthropic.claude-3-7-sonnet-20250219-v1:0 200000 3/0.3/3.75/15 *claude-3-7-sonnet-20250219 =regional.anthropic.claude-3-7-sonnet-20250219-v1:0
aws regional.anthropic.claude-3-haiku-20240307-v1:0 200000 0.25/-/-/1.25 *claude-3-haiku-20240307 =regional.anthropic.claude-3-haiku-20240307-v1:0
aws regional.anthropic.claude-3-opus-20240229-v1:0 200000 15/-/-/75 *claude-3-opus-20240229 =regional.anthropic.claude-3-opus-20240229-v1:0
aws regional.anthropic.claude-3-sonnet-20240229-v1:0 200000 3/0.3/3.75/15 *claude-3-sonnet-20240229 =regional.anthropic.claude-3-sonnet-20240229-v1:0
aws regional.anthropic.claude-fable-5-1-v1:0 1000000 11/0.275/13.75/55 *us.anthropic.claude-fable-5-1-v1 =anthropic.claude-fable-5-1 =claude-fable-5-1 =regional.anthropic.claude-fable-5-1-v1:0 =us.anthropic.claude-fable-5-1 ^anthropic.claude-fable-5-1-v1 ^claude-fable-5-1-v1
aws regional.anthropic.claude-fable-5-2 1000000 8.8/0.22/11/44 *eu.anthropic.claude-fable-5-2-v1 *us.anthropic.claude-fable-5-2-v1 =anthropic.claude-fable-5-2 =claude-fable-5-2 =eu.anthropic.claude-fable-5-2 =regional.anthropic.claude-fable-5-2 =us.anthropic.claude-fable-5-2 ^anthropic.claude-fable-5-2-v1 ^claude-fable-5-2-v1
aws regional.anthropic.claude-fable-5-v1:0 1000000 11/1.1/13.75/55 *au.anthropic.claude-fable-5-v1 *eu.anthropic.claude-fable-5-v1 *jp.anthropic.claude-fable-5-v1 *us.anthropic.claude-fable-5-v1 =anthropic.claude-fable-5 =au.anthropic.claude-fable-5 =claude-fable-5 =eu.anthropic.claude-fable-5 =regional.anthropic.claude-fable-5-v1:0 =us.anthropic.claude-fable-5 ^anthropic.claude-fable-5-v1 ^claude-fable-5-v1
aws regional.anthropic.claude-haiku-4-5-20251001-v1:0 200000 1.1/0.11/1.375/5.5 *apac.anthropic.claude-haiku-4-5-20251001 *au.anthropic.claude-haiku-4-5-20251001 *eu.anthropic.claude-haiku-4-5-20251001 *in.anthropic.claude-haiku-4-5-20251001 *jp.anthropic.claude-haiku-4-5-20251001 *us-gov.anthropic.claude-haiku-4-5-20251001 *us.anthropic.claude-haiku-4-5-20251001 =regional.anthropic.claude-haiku-4-5-20251001-v1:0 ^anthropic.claude-haiku-4-5-20251001 ^claude-haiku-4-5-20251001
aws regional.anthropic.claude-haiku-5-5 1000000 0.11/0.011/0.1375/0.55 *apac.anthropic.claude-haiku-5-5-v1 *au.anthropic.claude-haiku-5-5-v1 *eu.anthropic.claude-haiku-5-5-v1 *jp.anthropic.claude-haiku-5-5-v1 *us-gov.anthropic.claude-haiku-5-5-v1 *us.anthropic.claude-haiku-5-5-v1 =anthropic.claude-haiku-5-5 =apac.anthropic.claude-haiku-5-5 =au.anthropic.claude-haiku-5-5 =claude-haiku-5-5 =eu.anthropic.claude-haiku-5-5 =jp.anthropic.claude-haiku-5-5 =regional.anthropic.claude-haiku-5-5 =us-gov.anthropic.claude-haiku-5-5 =us.anthropic.claude-haiku-5-5 ^anthropic.claude-haiku-5-5-v1 ^claude-haiku-5-5-v1
aws regional.anthropic.claude-mythos-5-2 1000000 8.8/0.22/11/44 *eu.anthropic.claude-mythos-5-2-v1 *us.anthropic.claude-mythos-5-2-v1 =anthropic.claude-mythos-5-2 =claude-mythos-5-2 =eu.anthropic.claude-mythos-5-2 =regional.anthropic.claude-mythos-5-2 =us.anthropic.claude-mythos-5-2 ^anthropic.claude-mythos-5-2-v1 ^claude-mythos-5-2-v1
aws regional.anthropic.claude-opus-4-1-20250805-v1:0 200000 15/1.5/18.75/75 *apac.anthropic.claude-opus-4-1-20250805 *au.anthropic.claude-opus-4-1-20250805 *eu.anthropic.claude-opus-4-1-20250805 *jp.anthropic.claude-opus-4-1-20250805 *us-gov.anthropic.claude-opus-4-1-20250805 *us.anthropic.claude-opus-4-1-20250805 =regional.anthropic.claude-opus-4-1-20250805-v1:0 ^anthropic.claude-opus-4-1-20250805 ^claude-opus-4-1-20250805
aws regional.anthropic.claude-opus-4-20250514-v1:0 200000 15/1.5/18.75/75 *apac.anthropic.claude-opus-4-20250514 *au.anthropic.claude-opus-4-20250514 *eu.anthropic.claude-opus-4-20250514 *jp.anthropic.claude-opus-4-20250514 *us-gov.anthropic.claude-opus-4-20250514 *us.anthropic.claude-opus-4-20250514 =regional.anthropic.claude-opus-4-20250514-v1:0 ^anthropic.claude-opus-4-20250514 ^claude-opus-4-20250514
aws regional.anthropic.claude-opus-4-5-v1:0 200000 5.5/0.55/6.875/27.5 *apac.anthropic.claude-opus-4-5 *au.anthropic.claude-opus-4-5 *eu.anthropic.claude-opus-4-5 *jp.anthropic.claude-opus-4-5 *us-gov.anthropic.claude-opus-4-5 *us.anthropic.claude-opus-4-5 =regional.anthropic.claude-opus-4-5-v1:0 ^anthropic.claude-opus-4-5 ^claude-opus-4-5
aws regional.anthropic.claude-opus-4-6-v1:0 1000000 5.5/0.55/6.875/27.5 *apac.anthropic.claude-opus-4-6 *au.anthropic.claude-opus-4-6 *eu.anthropic.claude-opus-4-6 *jp.anthropic.claude-opus-4-6 *us-gov.anthropic.claude-opus-4-6 *us.anthropic.claude-opus-4-6 =regional.anthropic.claude-opus-4-6-v1:0 ^anthropic.claude-opus-4-6 ^claude-opus-4-6
aws regional.anthropic.claude-opus-4-7-v1:0 1000000 5.5/0.55/6.875/27.5 *apac.anthropic.claude-opus-4-7 *au.anthropic.claude-opus-4-7 *eu.anthropic.claude-opus-4-7 *jp.anthropic.claude-opus-4-7 *us-gov.anthropic.claude-opus-4-7 *us.anthropic.claude-opus-4-7 =regional.anthropic.claude-opus-4-7-v1:0 ^anthropic.claude-opus-4-7 ^claude-opus-4-7
aws regional.anthropic.claude-opus-4-8-v1:0 1000000 5.5/0.55/6.875/27.5 *au.anthropic.claude-opus-4-8 *eu.anthropic.claude-opus-4-8 *jp.anthropic.claude-opus-4-8 *us.anthropic.claude-opus-4-8 =regional.anthropic.claude-opus-4-8-v1:0 ^anthropic.claude-opus-4-8 ^claude-opus-4-8
aws regional.anthropic.claude-opus-5 1000000 5.5/0.55/6.875/27.5 *au.anthropic.claude-opus-5-v1 *eu.anthropic.claude-opus-5-v1 *in.anthropic.claude-opus-5-v1 *jp.anthropic.claude-opus-5-v1 *us.anthropic.claude-opus-5-v1 =anthropic.claude-opus-5 =au.anthropic.claude-opus-5 =claude-opus-5 =eu.anthropic.claude-opus-5 =in.anthropic.claude-opus-5 =jp.anthropic.claude-opus-5 =regional.anthropic.claude-opus-5 =us.anthropic.claude-opus-5 ^anthropic.claude-opus-5-v1 ^claude-opus-5-v1
aws regional.anthropic.claude-opus-5-5 1000000 4.4/0.22/5.5/22 *au.anthropic.claude-opus-5-5-v1 *eu.anthropic.claude-opus-5-5-v1 *jp.anthropic.claude-opus-5-5-v1 *us.anthropic.claude-opus-5-5-v1 =anthropic.claude-opus-5-5 =au.anthropic.claude-opus-5-5 =claude-opus-5-5 =eu.anthropic.claude-opus-5-5 =jp.anthropic.claude-opus-5-5 =regional.anthropic.claude-opus-5-5 =us.anthropic.claude-opus-5-5 ^anthropic.claude-opus-5-5-v1 ^claude-opus-5-5-v1
aws regional.anthropic.claude-sonnet-4-20250514-v1:0 200000 3/0.3/3.75/15 *apac.anthropic.claude-sonnet-4-20250514 *au.anthropic.claude-sonnet-4-20250514 *eu.anthropic.claude-sonnet-4-20250514 *jp.anthropic.claude-sonnet-4-20250514 *us-gov.anthropic.claude-sonnet-4-20250514 *us.anthropic.claude-sonnet-4-20250514 =regional.anthropic.claude-sonnet-4-20250514-v1:0 ^anthropic.claude-sonnet-4-20250514 ^claude-sonnet-4-20250514
aws regional.anthropic.claude-sonnet-4-5-20250929-v1:0 200000 3.3/0.33/4.125/16.5 *apac.anthropic.claude-sonnet-4-5-20250929 *au.anthropic.claude-sonnet-4-5-20250929 *eu.anthropic.claude-sonnet-4-5-20250929 *jp.anthropic.claude-sonnet-4-5-20250929 *us-gov.anthropic.claude-sonnet-4-5-20250929 *us.anthropic.claude-sonnet-4-5-20250929 =regional.anthropic.claude-sonnet-4-5-20250929-v1:0 ^anthropic.claude-sonnet-4-5-20250929 ^claude-sonnet-4-5-20250929
aws regional.anthropic.claude-sonnet-4-6-v1:0 1000000 3.3/0.33/4.125/16.5 *apac.anthropic.claude-sonnet-4-6 *au.anthropic.claude-sonnet-4-6 *eu.anthropic.claude-sonnet-4-6 *jp.anthropic.claude-sonnet-4-6 *us-gov.anthropic.claude-sonnet-4-6 *us.anthropic.claude-sonnet-4-6 =regional.anthropic.claude-sonnet-4-6-v1:0 ^anthropic.claude-sonnet-4-6 ^claude-sonnet-4-6
aws regional.anthropic.claude-sonnet-5-5 1000000 2.2/0.11/2.75/11 *apac.anthropic.claude-sonnet-5-5-v1 *au.anthropic.claude-sonnet-5-5-v1 *eu.anthropic.claude-sonnet-5-5-v1 *jp.anthropic.claude-sonnet-5-5-v1 *us-gov.anthropic.claude-sonnet-5-5-v1 *us.anthropic.claude-sonnet-5-5-v1 =anthropic.claude-sonnet-5-5 =apac.anthropic.claude-sonnet-5-5 =au.anthropic.claude-sonnet-5-5 =claude-sonnet-5-5 =eu.anthropic.claude-sonnet-5-5 =jp.anthropic.claude-sonnet-5-5 =regional.anthropic.claude-sonnet-5-5 =us-gov.anthropic.claude-sonnet-5-5 =us.anthropic.claude-sonnet-5-5 ^anthropic.claude-sonnet-5-5-v1 ^claude-sonnet-5-5-v1
aws regional.anthropic.claude-sonnet-5-v1:0 1000000 2.2/0.22/2.75/11 *apac.anthropic.claude-sonnet-5-v1 *au.anthropic.claude-sonnet-5-v1 *eu.anthropic.claude-sonnet-5-v1 *in.anthropic.claude-sonnet-5-v1 *jp.anthropic.claude-sonnet-5-v1 *us-gov.anthropic.claude-sonnet-5-v1 *us.anthropic.claude-sonnet-5-v1 =anthropic.claude-sonnet-5 =apac.anthropic.claude-sonnet-5 =au.anthropic.claude-sonnet-5 =claude-sonnet-5 =eu.anthropic.claude-sonnet-5 =in.anthropic.claude-sonnet-5 =jp.anthropic.claude-sonnet-5 =regional.anthropic.claude-sonnet-5-v1:0 =us-gov.anthropic.claude-sonnet-5 =us.anthropic.claude-sonnet-5 ^anthropic.claude-sonnet-5-v1 ^claude-sonnet-5-v1
aws regional.moonshotai.kimi-k3 1000000 3.3/0.33/4.125/16.5 $/in.moonshotai.kimi-k3 $/us.moonshotai.kimi-k3 =in.moonshotai.kimi-k3 =moonshotai.kimi-k3 =regional.moonshotai.kimi-k3 =us.moonshotai.kimi-k3
aws regional.moonshotai.kimi-k3.1 1000000/868928 4.4/0.22/5.5/22 *in.moonshotai.kimi-k3.1 *us.moonshotai.kimi-k3.1 =regional.moonshotai.kimi-k3.1
aws regional.openai.gpt-5.6-luna 1000000/922000 0.22/0.022/0.275/1.32 *in.openai.gpt-5.6-luna *us.openai.gpt-5.6-luna =regional.openai.gpt-5.6-luna ^gpt-5.6-luna ^openai.gpt-5.6-luna
aws regional.openai.gpt-5.6-sol 1000000/922000 4.4/0.44/5.5/22 *us.openai.gpt-5.6-sol =regional.openai.gpt-5.6-sol ^gpt-5.6-sol ^openai.gpt-5.6-sol
aws regional.openai.gpt-5.6-terra 1000000/922000 2.2/0.22/2.75/13.2 *in.openai.gpt-5.6-terra *us.openai.gpt-5.6-terra =regional.openai.gpt-5.6-terra ^gpt-5.6-terra ^openai.gpt-5.6-terra
aws regional.openai.gpt-6-astra 1050000/922000 11/1.1/13.75/55 *us.openai.gpt-6-astra =regional.openai.gpt-6-astra ^gpt-6-astra ^openai.gpt-6-astra
aws regional.openai.gpt-6-luna 1000000/922000 0.11/0.011/0.1375/0.55 *in.openai.gpt-6-luna *us.openai.gpt-6-luna =regional.openai.gpt-6-luna ^gpt-6-luna ^openai.gpt-6-luna
aws regional.openai.gpt-6-sol 1000000/922000 2.2/0.22/2.75/11 *in.openai.gpt-6-sol *us.openai.gpt-6-sol =regional.openai.gpt-6-sol ^gpt-6-sol ^openai.gpt-6-sol
aws regional.openai.gpt-6.1-sol 1000000 2.2/0.11/2.75/11 *us.openai.gpt-6.1-sol =regional.openai.gpt-6.1-sol ^gpt-6.1-sol ^openai.gpt-6.1-sol
aws regional.openai.gpt-6.1-terra 1050000/922000 1.1/0.055/1.375/5.5 *us.openai.gpt-6.1-terra =regional.openai.gpt-6.1-terra ^gpt-6.1-terra ^openai.gpt-6.1-terra
aws regional.zai.glm-5.3 1000000 1.848/0.3432/2.31/5.808 $/us.zai.glm-5.3 =regional.zai.glm-5.3 =us.zai.glm-5.3
aws writer.palmyra-x4-v1:0 128000 2.5/-/-/10 *writer.palmyra-x4 =writer.palmyra-x4-v1:0
aws writer.palmyra-x5-v1:0 128000 0.6/-/-/6 *writer.palmyra-x5 =writer.palmyra-x5-v1:0
azure mai-ds-r1:free 163840 -/-/-/- =mai-ds-r1:free
azure o1 200000 15/7.5/-/60 =o1 =o1-2024-12-17
azure o1-mini 128000 1.1/0.55/-/4.4 =o1-mini =o1-mini-2024-09-12
azure o1-preview 128000 15/7.5/-/60 =o1-preview =o1-preview-2024-09-12
azure o3-2025-04-16 200000 2/0.5/-/8 =o3 =o3-2025-04-16
azure o3-mini 200000 1.1/0.55/-/4.4 =o3-mini =o3-mini-2025-01-31
azure o4-mini 200000 1.1/0.275/-/4.4 *o4-mini *o4-mini-2025-04-16 =o4-mini
azure phi-3-medium-128k-instruct 131072 0.17/-/-/0.68 =phi-3-medium-128k-instruct
azure phi-3-mini-128k-instruct 131072 0.13/-/-/0.52 =phi-3-mini-128k-instruct
azure phi-3.5-mini-128k-instruct 131072 0.13/-/-/0.52 =phi-3.5-mini-128k-instruct
azure phi-4 16384 0.125/-/-/0.5 =phi-4
azure phi-4-mini-instruct 131072 0.075/-/-/0.3 =phi-4-mini-instruct
azure phi-4-multimodal-instruct 131072 0.08/-/-/0.32 =phi-4-multimodal-instruct
azure phi-4-reasoning-plus 32768 0.125/-/-/0.5 =phi-4-reasoning-plus
azure phi-4-reasoning-plus:free 32768 -/-/-/- =phi-4-reasoning-plus:free
azure phi-4-reasoning:free 32768 -/-/-/- =phi-4-reasoning:free
cerebras gemma-4-31b 131072 0.99/-/-/1.49 =gemma-4-31b ^cerebras/gemma-4-31b ^cerebras:gemma-4-31b
cerebras gpt-oss-120b 131072 0.35/-/-/0.75 =gpt-oss-120b ^cerebras/gpt-oss-120b ^cerebras:gpt-oss-120b
cerebras llama-3.3-70b 128000 0.85/-/-/1.2 =llama-3.3-70b ^cerebras/llama-3.3-70b ^cerebras:llama-3.3-70b
cerebras llama3.1-8b 32768/128000 0.1/-/-/0.1 =llama3.1-8b ^cerebras/llama3.1-8b ^cerebras:llama3.1-8b
cerebras qwen-3-32b 131072/128000 0.4/-/-/0.8 =qwen-3-32b ^cerebras/qwen-3-32b ^cerebras:qwen-3-32b
cerebras qwen-3.8-27b 65536 0.99/-/-/1.49 =qwen-3.8-27b ^cerebras/qwen-3.8-27b ^cerebras:qwen-3.8-27b
cerebras zai-glm-4.7 131072 2.25/-/-/2.75 =zai-glm-4.7 ^cerebras/zai-glm-4.7 ^cerebras:zai-glm-4.7
fireworks deepseek-r1-0528 160000/163840 3/-/-/8 =accounts/fireworks/models/deepseek-r1-0528 =deepseek-r1-0528
fireworks deepseek-v3-0324 160000/163840 0.9/-/-/0.9 =accounts/fireworks/models/deepseek-v3-0324 =deepseek-v3-0324
fireworks deepseek-v3p2 163840 0.56/0.28/-/1.68 =accounts/fireworks/models/deepseek-v3p2 =deepseek-v3p2
fireworks deepseek-v4-flash 1040000/1048576 0.14/0.028/-/0.28 =accounts/fireworks/models/deepseek-v4-flash =accounts/fireworks/models/deepseek-v4-flash-0731 =deepseek-v4-flash
fireworks deepseek-v4-pro 1048576 1.74/0.145/-/3.48 =accounts/fireworks/models/deepseek-v4-pro =deepseek-v4-pro
fireworks deepseek-v4p1-flash -/1048576 0.3/0.006/-/1.2 =accounts/fireworks/models/deepseek-v4p1-flash =deepseek-v4p1-flash
fireworks deepseek-v4p1-flash-1017 -/1048576 0.3/0.006/-/1.2 =accounts/fireworks/models/deepseek-v4p1-flash-1017 =deepseek-v4p1-flash-1017
fireworks deepseek-v4p1-flash-1017-ultrafast -/1048576 2.4/0.048/-/9.6 =accounts/fireworks/routers/deepseek-v4p1-flash-1017-ultrafast =deepseek-v4p1-flash-1017-ultrafast
fireworks deepseek-v4p1-flash-1017-us -/1048576 0.45/0.009/-/1.8 =accounts/fireworks/routers/deepseek-v4p1-flash-1017-us =deepseek-v4p1-flash-1017-us
fireworks deepseek-v4p1-flash-us -/1048576 0.45/0.009/-/1.8 =accounts/fireworks/routers/deepseek-v4p1-flash-us =deepseek-v4p1-flash-us
fireworks ember-1 -/1048576 3/0.3/-/15 =accounts/fireworks/models/ember-1 =ember-1
fireworks gemma-3-27b-it 131000/131072 0.1/-/-/0.1 =accounts/fireworks/models/gemma-3-27b-it =gemma-3-27b-it
fireworks glm-4p7 202752 0.6/-/-/2.2 =accounts/fireworks/models/glm-4p7 =glm-4p7
fireworks glm-5p1 -/202752 1.4/0.26/-/4.4 =accounts/fireworks/models/glm-5p1 =glm-5p1
fireworks glm-5p1-fast -/202800 2.8/0.52/-/8.8 =accounts/fireworks/routers/glm-5p1-fast =glm-5p1-fast
fireworks glm-5p2 1040000/1048576 1.4/0.14/-/4.4 =accounts/fireworks/models/glm-5p2 =glm-5p2
fireworks glm-5p2-fast 1040000/1048576 2.1/0.21/-/6.6 =accounts/fireworks/routers/glm-5p2-fast =accounts/fireworks/routers/glm-5p2-fast-us =glm-5p2-fast
fireworks glm-5p3 -/1048576 1.4/0.26/-/4.4 =accounts/fireworks/models/glm-5p3 =glm-5p3
fireworks glm-5p3-fast -/1048576 2.1/0.39/-/6.6 =accounts/fireworks/routers/glm-5p3-fast =glm-5p3-fast
fireworks glm-5p3-flash -/1048576 0.15/0.03/-/0.5 =accounts/fireworks/models/glm-5p3-flash =glm-5p3-flash
fireworks glm-5p3-flash-us -/1048576 0.225/0.045/-/0.75 =accounts/fireworks/routers/glm-5p3-flash-us =glm-5p3-flash-us
fireworks glm-5p3-us -/1048576 2.1/0.39/-/6.6 =accounts/fireworks/routers/glm-5p3-us =glm-5p3-us
fireworks gpt-oss-120b 131072 0.15/0.015/-/0.6 =accounts/fireworks/models/gpt-oss-120b =gpt-oss-120b
fireworks gpt-oss-20b 131072 0.07/0.035/-/0.3 =accounts/fireworks/models/gpt-oss-20b =gpt-oss-20b
fireworks inkling 1040000/1048576 1/0.17/-/4.05 =accounts/fireworks/models/inkling =inkling
fireworks kimi-k2p5 262144 0.6/0.1/-/3 =accounts/fireworks/models/kimi-k2p5 =kimi-k2p5
fireworks kimi-k2p6 -/262144 0.95/0.16/-/4 =accounts/fireworks/models/kimi-k2p6 =kimi-k2p6
fireworks kimi-k2p6-fast 262144 2/0.3/-/8 =accounts/fireworks/routers/kimi-k2p6-fast =kimi-k2p6-fast
fireworks kimi-k2p7-code 262144 0.95/0.19/-/4 =accounts/fireworks/models/kimi-k2p7-code =kimi-k2p7-code
fireworks kimi-k2p7-code-fast 262144 1.9/0.38/-/8 =accounts/fireworks/routers/kimi-k2p7-code-fast =kimi-k2p7-code-fast
fireworks kimi-k3 1040000/1048576 3/0.3/-/15 =accounts/fireworks/models/kimi-k3 =kimi-k3
fireworks kimi-k3-fast 1040000/1048576 4.5/0.45/-/22.5 =accounts/fireworks/routers/kimi-k3-fast =kimi-k3-fast
fireworks kimi-k3-us 1040000/1048576 4.5/0.45/-/22.5 =accounts/fireworks/routers/kimi-k3-us =kimi-k3-us
fireworks kimi-k3p1-pro -/1048576 2/0.2/-/10 =accounts/fireworks/models/kimi-k3p1-pro =kimi-k3p1-pro
fireworks llama-v3p1-8b-instruct 131000/131072 0.2/-/-/0.2 =accounts/fireworks/models/llama-v3p1-8b-instruct =llama-v3p1-8b-instruct
fireworks llama4-maverick-instruct-basic 1000000/131072 0.22/-/-/0.88 =accounts/fireworks/models/llama4-maverick-instruct-basic =llama4-maverick-instruct-basic
fireworks minimax-m2p1 204800/196608 0.3/-/-/1.2 =accounts/fireworks/models/minimax-m2p1 =minimax-m2p1
fireworks minimax-m2p7 -/196608 0.3/0.06/-/1.2 =accounts/fireworks/models/minimax-m2p7 =minimax-m2p7
fireworks minimax-m3 524288/512000 0.3/0.06/-/1.2 =accounts/fireworks/models/minimax-m3 =minimax-m3
fireworks muse-spark-open -/1048576 1.25/0.15/-/4.25 =accounts/fireworks/models/muse-spark-open =muse-spark-open
fireworks nemotron-3-ultra-nvfp4 262000/262144 0.6/0.12/-/2.4 =accounts/fireworks/models/nemotron-3-ultra-nvfp4 =nemotron-3-ultra-nvfp4
fireworks nemotron-lightning-3p5-30b-a3b -/262144 0.05/0.01/-/0.2 =accounts/fireworks/models/nemotron-lightning-3p5-30b-a3b =nemotron-lightning-3p5-30b-a3b
fireworks qwen2p5-vl-72b-instruct 128000 0.9/-/-/0.9 =accounts/fireworks/models/qwen2p5-vl-72b-instruct =qwen2p5-vl-72b-instruct
fireworks qwen3-235b-a22b 128000/131072 0.22/-/-/0.88 =accounts/fireworks/models/qwen3-235b-a22b =qwen3-235b-a22b
fireworks qwen3p7-plus 262144 0.4/0.08/-/1.6 =accounts/fireworks/models/qwen3p7-plus =qwen3p7-plus
fireworks qwen3p8-max -/262144 2/0.25/-/6 =accounts/fireworks/models/qwen3p8-max =qwen3p8-max
fireworks ultramarine-1-flash-us -/1048576 0.15/0.03/-/0.5 =accounts/fireworks/routers/ultramarine-1-flash-us =ultramarine-1-flash-us
groq canopylabs/orpheus-arabic-saudi 4000 -/-/-/- =canopylabs/orpheus-arabic-saudi
groq canopylabs/orpheus-v1-english 4000 -/-/-/- =canopylabs/orpheus-v1-english
groq deepseek-r1-distill-llama-70b 131072 0.75/-/-/0.99 =deepseek-r1-distill-llama-70b
groq meta-llama/llama-4-maverick-17b-128e-instruct 131072 0.2/-/-/0.6 =meta-llama/llama-4-maverick-17b-128e-instruct
groq moonshotai/kimi-k2-instruct 131072 1/0.5/-/3 =moonshotai/kimi-k2-instruct =moonshotai/kimi-k2-instruct-0905
groq openai/gpt-oss-120b 131072 0.15/0.075/-/0.6 =openai/gpt-oss-120b
groq openai/gpt-oss-20b 131072 0.075/0.0375/-/0.3 =openai/gpt-oss-20b
groq qwen/qwen3-32b 131072 0.29/-/-/0.59 =qwen/qwen3-32b
groq qwen/qwen3.8-27b 131072 0.8/-/-/4 =qwen/qwen3.8-27b
together minimaxai/minimax-m3 524288 0.3/0.06/-/1.2 =minimaxai/minimax-m3
together minimaxai/minimax-m3.1-flash 1048576 0.15/0.015/-/0.6 =minimaxai/minimax-m3.1-flash
together qwen/qwen3.5-9b 262144 0.17/-/-/0.25 =qwen/qwen3.5-9b
together qwen/qwen3.6-plus 1000000 0.5/-/-/3 =qwen/qwen3.6-plus
together qwen/qwen3.7-max -/1000000 2.5/0.5/-/7.5 =qwen/qwen3.7-max
together qwen/qwen3.7-plus 1000000 0.32/-/-/1.28 =qwen/qwen3.7-plus
together qwen/qwen3.8-2.4t-a95b -/1010000 2/0.5/-/6 =qwen/qwen3.8-2.4t-a95b
together qwen/qwen3.8-flash 1000000 0.15/-/-/0.47 =qwen/qwen3.8-flash
together deepseek-ai/deepseek-v4-pro-0813 1048576 1.32/0.13/-/3.96 =deepseek-ai/deepseek-v4-pro-0813
together deepseek-ai/deepseek-v4.1-flash 1000000/1048576 0.3/0.006/-/1.2 =deepseek-ai/deepseek-v4.1-flash =deepseek-ai/deepseek-v4.1-flash-1017
together meta-llama/llama-3.3-70b-instruct-turbo -/131072 0.88/-/-/0.88 =meta-llama/llama-3.3-70b-instruct-turbo
together meta-llama/llama-4-scout-17b-16e-instruct -/1048576 0.18/-/-/0.59 =meta-llama/llama-4-scout-17b-16e-instruct
together meta-llama/meta-llama-3.1-70b-instruct-turbo -/131072 0.88/-/-/0.88 =meta-llama/meta-llama-3.1-70b-instruct-turbo
together meta-llama/meta-llama-3.1-8b-instruct-turbo -/131072 0.18/-/-/0.18 =meta-llama/meta-llama-3.1-8b-instruct-turbo
together meta-models/muse-glimmer-30b 131072 0.35/0.04/-/1.5 =meta-models/muse-glimmer-30b
together meta-models/muse-spark-open-816b-a42b 1048576 1.25/0.15/-/4.25 =meta-models/muse-spark-open-816b-a42b
together mistralai/mixtral-8x7b-instruct-v0.1 -/32768 0.9/-/-/0.9 =mistralai/mixtral-8x7b-instruct-v0.1
together moonshotai/kimi-k3 1048576 3/0.3/-/15 =moonshotai/kimi-k3
together moonshotai/kimi-k3.1-pro 1048576 2/0.2/-/10 =moonshotai/kimi-k3.1-pro
together nvidia/nvidia-nemotron-3.5-super-vl 262144 0.15/0.02/-/0.5 =nvidia/nvidia-nemotron-3.5-super-vl
together openai/gpt-oss-120b 131072 0.15/-/-/0.6 =openai/gpt-oss-120b
together reflection/beam-1.0-501b-a23b 1048576 0.4/0.04/-/1.2 =reflection/beam-1.0-501b-a23b
together ricursive-ai/ripple-65b-preview 131072 0.2/-/-/0.6 =ricursive-ai/ripple-65b-preview
together thinkingmachines/inkling 524288 1/0.17/-/4.05 =thinkingmachines/inkling
together together/tev1-4b-experimental 32768 0.042/-/-/- =together/tev1-4b-experimental
together zai-org/glm-5.2 1048575 1.4/0.26/-/4.4 =zai-org/glm-5.2
together zai-org/glm-5.3 1048575 1.4/0.26/-/4.4 =zai-org/glm-5.3
together zai-org/glm-5.3-flash 1048575 0.15/0.03/-/0.5 =zai-org/glm-5.3-flash
openrouter aion-labs/aion-2.0 131072 0.8/0.2/-/1.6 =aion-labs/aion-2.0 =aion-labs/aion-2.0-20260223
openrouter aion-labs/aion-3.0 131072 3/0.75/-/6 =aion-labs/aion-3.0 =aion-labs/aion-3.0-20260707
openrouter aion-labs/aion-3.0-mini 131072 0.7/0.18/-/1.4 =aion-labs/aion-3.0-mini =aion-labs/aion-3.0-mini-20260707
openrouter aion-labs/aion-3.5 262144 3/0.75/-/6 =aion-labs/aion-3.5 =aion-labs/aion-3.5-20260923
openrouter aion-labs/aion-3.5-mini 262144 0.7/0.18/-/1.4 =aion-labs/aion-3.5-mini =aion-labs/aion-3.5-mini-20260923
openrouter aion-labs/aion-rp-llama-3.1-8b 32768 0.8/-/-/1.6 =aion-labs/aion-rp-llama-3.1-8b
openrouter allenai/olmo-3-32b-think 65536 0.15/-/-/0.5 =allenai/olmo-3-32b-think
openrouter amazon/nova-2-lite-v1 1000000 0.3/-/-/2.5 =amazon/nova-2-lite-v1
openrouter amazon/nova-lite-v1 300000 0.06/-/-/0.24 =amazon/nova-lite-v1
openrouter amazon/nova-micro-v1 128000 0.035/-/-/0.14 =amazon/nova-micro-v1
openrouter amazon/nova-premier-v1 1000000 2.5/0.625/-/12.5 =amazon/nova-premier-v1
openrouter amazon/nova-pro-v1 300000 0.8/-/-/3.2 =amazon/nova-pro-v1
openrouter anthracite-org/magnum-v4-72b 32768 2.5/-/-/5 =anthracite-org/magnum-v4-72b
openrouter anthropic/claude-3-haiku 200000 0.25/-/-/1.25 =anthropic/claude-3-haiku =anthropic/claude-3-haiku:beta
openrouter anthropic/claude-fable-5 1000000 10/1/12.5/50 =anthropic/claude-5-fable-20260609 =anthropic/claude-fable-5 =anthropic/claude-fable-5:beta
openrouter anthropic/claude-fable-5.1 1000000 10/0.25/12.5/50 =anthropic/claude-fable-5.1 =anthropic/claude-fable-5.1-20260831 =anthropic/claude-fable-5.1:beta
openrouter anthropic/claude-fable-5.1:batch 1000000 5/0.125/6.25/25 =anthropic/claude-fable-5.1:batch
openrouter anthropic/claude-fable-5:batch 1000000 5/0.5/6.25/25 =anthropic/claude-fable-5:batch
openrouter anthropic/claude-haiku-4.5 200000 1/0.1/1.25/5 =anthropic/claude-4.5-haiku-20251001 =anthropic/claude-4.5-haiku-20251001:beta =anthropic/claude-haiku-4.5 =anthropic/claude-haiku-4.5-20251001 =anthropic/claude-haiku-4.5-20251001:beta =anthropic/claude-haiku-4.5:beta
openrouter anthropic/claude-haiku-4.5:batch 200000 0.5/0.05/0.625/2.5 =anthropic/claude-haiku-4.5:batch
openrouter anthropic/claude-haiku-5.5 1000000 0.1/0.01/0.125/0.5 =anthropic/claude-haiku-5.5 =anthropic/claude-haiku-5.5-20261007 ~^anthropic/claude-haiku-5\.5-\d{8}$
openrouter anthropic/claude-haiku-5.5:batch 1000000 0.05/0.005/0.0625/0.25 =anthropic/claude-haiku-5.5:batch
openrouter anthropic/claude-opus-4 200000 15/1.5/18.75/75 =anthropic/claude-4.1-opus-20250805 =anthropic/claude-opus-4 =anthropic/claude-opus-4.1
openrouter anthropic/claude-opus-4.1:batch 200000 7.5/0.75/9.375/37.5 =anthropic/claude-opus-4.1:batch
openrouter anthropic/claude-opus-4.5 200000 5/0.5/6.25/25 =anthropic/claude-4.5-opus-20251124 =anthropic/claude-4.5-opus-20251124:beta =anthropic/claude-opus-4.5 =anthropic/claude-opus-4.5-20251124 =anthropic/claude-opus-4.5-20251124:beta =anthropic/claude-opus-4.5:beta
openrouter anthropic/claude-opus-4.5:batch 200000 2.5/0.25/3.125/12.5 =anthropic/claude-opus-4.5:batch
openrouter anthropic/claude-opus-4.6 1000000 5/0.5/6.25/25 =anthropic/claude-4.6-opus-20260205 =anthropic/claude-4.6-opus-20260205:beta =anthropic/claude-opus-4.6 =anthropic/claude-opus-4.6-20260205 =anthropic/claude-opus-4.6-20260205:beta =anthropic/claude-opus-4.6:beta
openrouter anthropic/claude-opus-4.6:batch 1000000 2.5/0.25/3.125/12.5 =anthropic/claude-opus-4.6:batch
openrouter anthropic/claude-opus-4.7 1000000 5/0.5/6.25/25 =anthropic/claude-4.7-opus-20260416 =anthropic/claude-opus-4.7 =anthropic/claude-opus-4.7:beta
openrouter anthropic/claude-opus-4.7-fast 1000000 30/3/37.5/150 =anthropic/claude-opus-4.7-fast
openrouter anthropic/claude-opus-4.7:batch 1000000 2.5/0.25/3.125/12.5 =anthropic/claude-opus-4.7:batch
openrouter anthropic/claude-opus-4.8 1000000 5/0.5/6.25/25 =anthropic/claude-4.8-opus-20260528 =anthropic/claude-opus-4.8 =anthropic/claude-opus-4.8:beta
openrouter anthropic/claude-opus-4.8-fast 1000000 10/1/12.5/50 =anthropic/claude-opus-4.8-fast
openrouter anthropic/claude-opus-4.8:batch 1000000 2.5/0.25/3.125/12.5 =anthropic/claude-opus-4.8:batch
openrouter anthropic/claude-opus-5 1000000 5/0.5/6.25/25 =anthropic/claude-opus-5 =anthropic/claude-opus-5-20260723 =anthropic/claude-opus-5:beta
openrouter anthropic/claude-opus-5-fast 1000000 10/1/12.5/50 =anthropic/claude-opus-5-fast
openrouter anthropic/claude-opus-5.5 1000000 4/0.2/5/20 =anthropic/claude-opus-5.5 =anthropic/claude-opus-5.5-20260921 =anthropic/claude-opus-5.5:beta
openrouter anthropic/claude-opus-5.5:batch 1000000 2/0.1/2.5/10 =anthropic/claude-opus-5.5:batch
openrouter anthropic/claude-opus-5:batch 1000000 2.5/0.25/3.125/12.5 =anthropic/claude-opus-5:batch
openrouter anthropic/claude-sonnet-4.5 1000000 3/0.3/3.75/15 =anthropic/claude-4.5-sonnet-20250929 =anthropic/claude-4.5-sonnet-20250929:beta =anthropic/claude-sonnet-4.5 =anthropic/claude-sonnet-4.5-20250929 =anthropic/claude-sonnet-4.5-20250929:beta =anthropic/claude-sonnet-4.5:beta
openrouter anthropic/claude-sonnet-4.5:batch 1000000 1.5/0.15/1.875/7.5 =anthropic/claude-sonnet-4.5:batch
openrouter anthropic/claude-sonnet-4.6 1000000 3/0.3/3.75/15 =anthropic/claude-4.6-sonnet-20260217 =anthropic/claude-4.6-sonnet-20260217:beta =anthropic/claude-sonnet-4.6 =anthropic/claude-sonnet-4.6-20260217 =anthropic/claude-sonnet-4.6-20260217:beta =anthropic/claude-sonnet-4.6:beta
openrouter anthropic/claude-sonnet-4.6:batch 1000000 1.5/0.15/1.875/7.5 =anthropic/claude-sonnet-4.6:batch
openrouter anthropic/claude-sonnet-5 1000000 2/0.2/2.5/10 =anthropic/claude-sonnet-5 =anthropic/claude-sonnet-5-20260630 =anthropic/claude-sonnet-5:beta
openrouter anthropic/claude-sonnet-5.5 1000000 2/0.1/2.5/10 =anthropic/claude-sonnet-5.5 =anthropic/claude-sonnet-5.5-20260928 =anthropic/claude-sonnet-5.5:beta
openrouter anthropic/claude-sonnet-5.5:batch 1000000 1/0.05/1.25/5 =anthropic/claude-sonnet-5.5:batch
openrouter anthropic/claude-sonnet-5:batch 1000000 1/0.1/1.25/5 =anthropic/claude-sonnet-5:batch
openrouter arcee-ai/trinity-large-thinking 262144 0.25/0.06/-/0.8 =arcee-ai/trinity-large-thinking
openrouter arcee-ai/virtuoso-large 131072 0.75/-/-/1.2 =arcee-ai/virtuoso-large
openrouter baidu/ernie-4.5-vl-424b-a47b 123000 0.42/-/-/1.25 =baidu/ernie-4.5-vl-424b-a47b
openrouter bytedance-seed/seed-1.6 262144 0.25/-/-/2 =bytedance-seed/seed-1.6 =bytedance-seed/seed-1.6-20250625
openrouter bytedance-seed/seed-1.6-flash 262144 0.075/-/-/0.3 =bytedance-seed/seed-1.6-flash =bytedance-seed/seed-1.6-flash-20250625
openrouter bytedance-seed/seed-2-1-turbo 262144 0.5/-/-/2.5 =bytedance-seed/seed-2-1-turbo =bytedance-seed/seed-2-1-turbo-20260810
openrouter bytedance-seed/seed-2.0-code 262144 0.5/-/-/3 =bytedance-seed/seed-2.0-code =bytedance-seed/seed-2.0-code-20260730
openrouter bytedance-seed/seed-2.0-lite 262144 0.25/-/-/2 =bytedance-seed/seed-2.0-lite =bytedance-seed/seed-2.0-lite-20260309
openrouter bytedance-seed/seed-2.0-mini 262144 0.1/-/-/0.4 =bytedance-seed/seed-2.0-mini =bytedance-seed/seed-2.0-mini-20260224
openrouter bytedance/ui-tars-1.5-7b 128000 0.1/-/-/0.2 =bytedance/ui-tars-1.5-7b
openrouter cloudflare/clef 65536 0.24/-/-/- =cloudflare/clef
openrouter cloudflare/clef-flash 65536 0.09/-/-/- =cloudflare/clef-flash
openrouter cognitivecomputations/dolphin-mistral-24b-venice-edition 128000 0.2/-/-/0.9 =cognitivecomputations/dolphin-mistral-24b-venice-edition =venice/uncensored
openrouter cohere/command-a 256000 2.5/-/-/10 =cohere/command-a =cohere/command-a-03-2025
openrouter cohere/command-a-plus 192000/128000 0.3/0.15/-/1.5 =cohere/command-a-plus =cohere/command-a-plus-05-2026
openrouter cohere/command-r-08-2024 128000 0.15/-/-/0.6 =cohere/command-r-08-2024
openrouter cohere/command-r-plus-08-2024 128000 2.5/-/-/10 =cohere/command-r-plus-08-2024
openrouter cohere/command-r7b-12-2024 128000 0.0375/-/-/0.15 =cohere/command-r7b-12-2024
openrouter cohere/north-mini-code:free 256000 -/-/-/- =cohere/north-mini-code:free
openrouter deepseek/deepseek-chat -/131072 0.2574/-/-/1.0287 =deepseek/deepseek-chat =deepseek/deepseek-chat-v3
openrouter deepseek/deepseek-chat-v3-0324 163840 0.25/0.11/-/1 =deepseek/deepseek-chat-v3-0324
openrouter deepseek/deepseek-r1 64000/65536 0.7/-/-/2.5 =deepseek/deepseek-r1
openrouter deepseek/deepseek-r1-distill-llama-70b 8192 0.1/-/-/0.4 =deepseek/deepseek-r1-distill-llama-70b
openrouter deepseek/deepseek-v3.1-terminus 163840 0.27/-/-/1 =deepseek/deepseek-v3.1-terminus
openrouter deepseek/deepseek-v3.2 -/163840 0.26/0.13/-/0.38 =deepseek/deepseek-v3.2 =deepseek/deepseek-v3.2-20251201
openrouter deepseek/deepseek-v3.2-exp 163840 0.27/-/-/0.41 =deepseek/deepseek-v3.2-exp
openrouter deepseek/deepseek-v4-flash -/1000000 0.105/0.021/-/0.21 =deepseek/deepseek-v4-flash =deepseek/deepseek-v4-flash-20260423
openrouter deepseek/deepseek-v4-flash-0731 1048576 0.14/0.05/-/0.28 =deepseek/deepseek-v4-flash-0731 =deepseek/deepseek-v4-flash-20260731
openrouter deepseek/deepseek-v4-flash-0731:batch 1048576 0.048/0.012/-/0.144 =deepseek/deepseek-v4-flash-0731:batch
openrouter deepseek/deepseek-v4-flash-vision-exp 1048576/1000000 0.2156/0.00686/-/0.6468 =deepseek/deepseek-v4-flash-vision-exp =deepseek/deepseek-v4-flash-vision-exp-20260821
openrouter deepseek/deepseek-v4-pro -/1000000 1.416/0.118/-/2.832 =deepseek/deepseek-v4-pro =deepseek/deepseek-v4-pro-20260423
openrouter deepseek/deepseek-v4-pro-0813 1048576 0.66/0.022/-/1.98 =deepseek/deepseek-v4-pro-0813 =deepseek/deepseek-v4-pro-20260813
openrouter deepseek/deepseek-v4.1-flash 1048576 0.21/0.0042/-/0.84 =deepseek/deepseek-v4.1-flash =deepseek/deepseek-v4.1-flash-20260910
openrouter deepseek/deepseek-v4.1-flash-1017:batch 1048576 0.011/0.002/-/0.2 =deepseek/deepseek-v4.1-flash-1017:batch
openrouter deepseek/deepseek-v4.1-flash:batch 1048576 0.011/0.002/-/0.2 =deepseek/deepseek-v4.1-flash:batch
openrouter dots-studio/dots-3-note-preview:free 512000 -/-/-/- =dots-studio/dots-3-note-preview:free
openrouter elorian/glimpse 262144 0.6/0.06/-/3 =elorian/glimpse =elorian/glimpse-20261016
openrouter fireworks/ember-1 1048576 3/0.3/-/15 =fireworks/ember-1 =fireworks/ember-1-20260923
openrouter google/gemini-2.5-flash 1048576 0.3/0.03/0.0833333333333333/2.5 =google/gemini-2.5-flash
openrouter google/gemini-2.5-flash-lite 1048576 0.1/0.01/0.08333333333333334/0.4 =google/gemini-2.5-flash-lite
openrouter google/gemini-2.5-flash-lite-preview-09-2025 -/1048576 0.1/-/-/0.4 =google/gemini-2.5-flash-lite-preview-09-2025
openrouter google/gemini-2.5-flash-lite:batch 1048576 0.05/0.01/0.04166666666666665/0.2 =google/gemini-2.5-flash-lite:batch
openrouter google/gemini-2.5-flash-preview-09-2025 -/1048576 0.3/0.075/0.383/2.5 =google/gemini-2.5-flash-preview-09-2025
openrouter google/gemini-2.5-flash:batch 1048576 0.15/0.03/0.04166666666666665/1.25 =google/gemini-2.5-flash:batch
openrouter google/gemini-2.5-pro 1048576 1.25/0.125/0.375/10 =google/gemini-2.5-pro =google/gemini-2.5-pro-preview =google/gemini-2.5-pro-preview-05-06
openrouter google/gemini-2.5-pro:batch 1048576 0.625/0.125/0.1875/5 =google/gemini-2.5-pro:batch
openrouter google/gemini-3-flash-preview 1048576 0.5/0.05/0.08333333333333334/3 =google/gemini-3-flash-preview =google/gemini-3-flash-preview-20251217
openrouter google/gemini-3-flash-preview:batch 1048576 0.25/-/0.04166666666666665/1.5 =google/gemini-3-flash-preview:batch
openrouter google/gemini-3.1-flash-lite 1048576 0.25/0.025/0.08333333333333334/1.5 =google/gemini-3.1-flash-lite =google/gemini-3.1-flash-lite-20260507 =google/gemini-3.1-flash-lite-preview
openrouter google/gemini-3.1-flash-lite:batch 1048576 0.125/0.0125/0.04166666666666665/0.75 =google/gemini-3.1-flash-lite:batch
openrouter google/gemini-3.1-pro-preview 1048576 2/0.2/0.375/12 =google/gemini-3.1-pro-preview =google/gemini-3.1-pro-preview-20260219 =google/gemini-3.1-pro-preview-customtools
openrouter google/gemini-3.1-pro-preview:batch 1048576 1/-/0.1875/6 =google/gemini-3.1-pro-preview:batch
openrouter google/gemini-3.5-flash 1048576 1.5/0.15/0.08333333333333334/9 =google/gemini-3.5-flash =google/gemini-3.5-flash-20260519 ~^google/gemini-3\.5-flash-\d{8}$
openrouter google/gemini-3.5-flash-lite 1048576 0.3/0.03/0.0833333333333333/2.5 =google/gemini-3.5-flash-lite =google/gemini-3.5-flash-lite-20260721
openrouter google/gemini-3.5-flash-lite:batch 1048576 0.15/0.015/0.04166666666666665/1.25 =google/gemini-3.5-flash-lite:batch
openrouter google/gemini-3.5-flash:batch 1048576 0.75/0.075/0.04166666666666665/4.5 =google/gemini-3.5-flash:batch
openrouter google/gemini-3.6-flash 1048576 0.75/0.075/0.0416666666666667/3.75 =google/gemini-3.6-flash =google/gemini-3.6-flash-20260721
openrouter google/gemini-3.6-flash:batch 1048576 0.375/0.0375/0.0416666666666667/1.875 =google/gemini-3.6-flash:batch
openrouter google/gemini-3.7-flash 1048576 0.75/0.075/0.0416666666666667/3.75 =google/gemini-3.7-flash =google/gemini-3.7-flash-20260813
openrouter google/gemini-3.7-flash:batch 1048576 0.375/0.0375/0.0416666666666667/1.875 =google/gemini-3.7-flash:batch
openrouter google/gemini-3.8-flash 1048576 0.75/0.075/0.041666666666666664/3.75 =google/gemini-3.8-flash =google/gemini-3.8-flash-20260902 ~^google/gemini-3\.8-flash-\d{8}$
openrouter google/gemini-3.8-flash:batch 1048576 0.375/0.0375/0.0416666666666667/1.875 =google/gemini-3.8-flash:batch
openrouter google/gemini-4-argon 1048576 2/0.1/0.1875/10 =google/gemini-4-argon =google/gemini-4-argon-20261013
openrouter google/gemini-4-argon:batch 1048576 1/0.05/0.1875/5 =google/gemini-4-argon:batch
openrouter google/gemini-nano-banana-2.1 65536 1.5/-/-/7.5 =google/gemini-nano-banana-2.1 =google/gemini-nano-banana-2.1-20261006
openrouter google/gemini-omni-1.1-flash 131072 1.5/-/-/9 =google/gemini-omni-1.1-flash =google/gemini-omni-1.1-flash-20260911
openrouter google/gemini-omni-1.2-flash 131072 1.5/-/-/9 =google/gemini-omni-1.2-flash =google/gemini-omni-1.2-flash-20261105
openrouter google/gemma-2-27b-it 8192 0.65/-/-/0.65 =google/gemma-2-27b-it
openrouter google/gemma-3-12b-it 131072 0.05/-/-/0.15 =google/gemma-3-12b-it
openrouter google/gemma-3-27b-it -/131072 0.08/0.04/-/0.35 =google/gemma-3-27b-it
openrouter google/gemma-3-4b-it 131072 0.04/0.02/-/0.05 =google/gemma-3-4b-it
openrouter google/gemma-4-26b-a4b-it -/262144 0.15/0.0425/-/0.6 =google/gemma-4-26b-a4b-it =google/gemma-4-26b-a4b-it-20260403
openrouter google/gemma-4-26b-a4b-it:free 262144 -/-/-/- =google/gemma-4-26b-a4b-it:free
openrouter google/gemma-4-31b-it 262144 0.15/0.06/-/0.4 =google/gemma-4-31b-it =google/gemma-4-31b-it-20260402
openrouter google/gemma-4-31b-it:free 262144 -/-/-/- =google/gemma-4-31b-it:free
openrouter google/lyria-3-clip-preview 1048576/131072 -/-/-/- =google/lyria-3-clip-preview =google/lyria-3-clip-preview-20260330
openrouter google/lyria-3-pro-preview 1048576/131072 -/-/-/- =google/lyria-3-pro-preview =google/lyria-3-pro-preview-20260330
openrouter ibm-granite/granite-4.0-h-micro 131000 0.017/-/-/0.112 =ibm-granite/granite-4.0-h-micro
openrouter ibm-granite/granite-4.1-8b 131072 0.05/-/-/0.1 =ibm-granite/granite-4.1-8b
openrouter ibm-granite/granite-4.2-8b 131072 0.06/0.015/-/0.15 =ibm-granite/granite-4.2-8b =ibm-granite/granite-4.2-8b-20260831
openrouter inception/mercury-2 128000 0.25/0.025/-/0.75 =inception/mercury-2 =inception/mercury-2-20260304
openrouter inception/mercury-2.5 260000 0.04/0.004/-/0.15 =inception/mercury-2.5 =inception/mercury-2.5-20260908
openrouter inception/mercury-3 1000000 0.1/0.01/-/0.35 =inception/mercury-3 =inception/mercury-3-20261019
openrouter inclusionai/ling-3.0-flash 262144 0.021/0.0042/-/0.063 =inclusionai/ling-3.0-flash =inclusionai/ling-3.0-flash-20260723
openrouter inclusionai/ling-3.0-flash-vl 131072 0.06/0.012/-/0.18 =inclusionai/ling-3.0-flash-vl =inclusionai/ling-3.0-flash-vl-20260910
openrouter inclusionai/ling-3.0-tiny 262144 0.015/0.003/-/0.045 =inclusionai/ling-3.0-tiny =inclusionai/ling-3.0-tiny-20260806
openrouter inclusionai/ling-3.1-flash 262144 0.045/0.009/-/0.135 =inclusionai/ling-3.1-flash =inclusionai/ling-3.1-flash-20261002
openrouter inference-net/schematron-v2-small 128000 0.05/-/-/0.23 =inference-net/schematron-v2-small =inference-net/schematron-v2-small-20260902
openrouter inference-net/schematron-v2-turbo 128000 0.03/-/-/0.15 =inference-net/schematron-v2-turbo =inference-net/schematron-v2-turbo-20260902
openrouter liquid/lfm-2.5-2.6b 128000 0.35/0.04/-/0.5 =liquid/lfm-2.5-2.6b =liquid/lfm-2.5-2.6b-20260811
openrouter liquid/lfm-2.5-2.6b:free 65536 -/-/-/- =liquid/lfm-2.5-2.6b:free
openrouter liquid/lfm-2.5-24b-a2b 128000 0.05/0.025/-/0.7 =liquid/lfm-2.5-24b-a2b =liquid/lfm-2.5-24b-a2b-20261012
openrouter liquid/lfm-3-1.7b 262144 0.08/0.02/-/0.2 =liquid/lfm-3-1.7b =liquid/lfm-3-1.7b-20261106
openrouter liquid/lfm-3-1.7b:free 262144 -/-/-/- =liquid/lfm-3-1.7b:free
openrouter mancer/weaver 8000 0.4/-/-/0.75 =mancer/weaver
openrouter meituan/longcat-2.0 1048756 0.3/0.006/-/1.2 =meituan/longcat-2.0 =meituan/longcat-2.0-20260720
openrouter meta-llama/llama-3.1-70b-instruct 131072 0.72/-/-/0.72 =meta-llama/llama-3.1-70b-instruct
openrouter meta-llama/llama-3.2-1b-instruct 60000 0.027/-/-/0.201 =meta-llama/llama-3.2-1b-instruct
openrouter meta/muse-glimmer-30b 131072 0.3/0.04/-/1.2 =meta/muse-glimmer-30b =meta/muse-glimmer-30b-20260810
openrouter meta/muse-glimmer-30b:batch 131072 0.24/0.032/-/0.96 =meta/muse-glimmer-30b:batch
openrouter meta/muse-spark-1.1 1048576 1.25/0.15/-/4.25 =meta/muse-spark-1.1 =meta/muse-spark-1.1-20260709
openrouter meta/muse-spark-1.2 1048576 1.25/0.15/-/4.25 =meta/muse-spark-1.2 =meta/muse-spark-1.2-20260805
openrouter meta/muse-spark-1.2-contributor 1048576 0.1/0.002/-/0.2 =meta/muse-spark-1.2-contributor =meta/muse-spark-1.2-contributor-20260805
openrouter meta/muse-spark-1.3 1048576 1.25/0.15/-/4.25 =meta/muse-spark-1.3 =meta/muse-spark-1.3-20260902
openrouter meta/muse-spark-1.3-contributor 1048576 0.1/0.002/-/0.2 =meta/muse-spark-1.3-contributor =meta/muse-spark-1.3-contributor-20260902
openrouter meta/muse-spark-open 1048576 1.25/0.15/-/4.25 =meta/muse-spark-open =meta/muse-spark-open-20261015
openrouter meta/muse-wonder 1048576 4/0.2/-/20 =meta/muse-wonder =meta/muse-wonder-20261012
openrouter microsoft/phi-4 16384 0.07/-/-/0.14 =microsoft/phi-4
openrouter microsoft/wizardlm-2-8x22b 65535 0.62/-/-/0.62 =microsoft/wizardlm-2-8x22b
openrouter minimax/minimax-01 1000192 0.2/-/-/1.1 =minimax/minimax-01
openrouter minimax/minimax-m1 1000000 0.55/-/-/2.2 =minimax/minimax-m1
openrouter minimax/minimax-m2 -/200000 0.255/0.03/-/1.02 =minimax/minimax-m2
openrouter minimax/minimax-m2-her 65536 0.3/0.03/-/1.2 =minimax/minimax-m2-her =minimax/minimax-m2-her-20260123
openrouter minimax/minimax-m2.1 204800/1000000 0.3/0.03/-/1.2 =minimax/minimax-m2.1
openrouter minimax/minimax-m2.5 -/1000000 0.295/0.06/-/1.2 =minimax/minimax-m2.5 =minimax/minimax-m2.5-20260211
openrouter minimax/minimax-m3 -/1000000 0.3/0.06/-/1.2 =minimax/minimax-m3 =minimax/minimax-m3-20260531
openrouter minimax/minimax-m3.1-flash:free 1000000 -/-/-/- =minimax/minimax-m3.1-flash:free
openrouter minimax/minimax-m3:batch 524288 0.224/0.0448/-/0.88 =minimax/minimax-m3:batch
openrouter mistralai/codestral-2508 256000 0.3/0.03/-/0.9 =mistralai/codestral-2508
openrouter mistralai/codestral-2508:batch 256000 0.15/0.015/-/0.45 =mistralai/codestral-2508:batch
openrouter mistralai/devstral-2512 262144 0.4/0.04/-/2 =mistralai/devstral-2512
openrouter mistralai/ministral-14b-2512 262144 0.2/0.02/-/0.2 =mistralai/ministral-14b-2512
openrouter mistralai/ministral-3b-2512 131072 0.1/0.01/-/0.1 =mistralai/ministral-3b-2512
openrouter mistralai/ministral-8b-2512 262144 0.15/0.015/-/0.15 =mistralai/ministral-8b-2512
openrouter mistralai/ministral-8b-2512:batch 262144 0.075/0.0075/-/0.075 =mistralai/ministral-8b-2512:batch
openrouter mistralai/mistral-large 128000 2/0.2/-/6 =mistral-large-2411 =mistralai/mistral-large =mistralai/mistral-large-2407
openrouter mistralai/mistral-large-2512 262144 0.5/0.05/-/1.5 =mistralai/mistral-large-2512
openrouter mistralai/mistral-large-2512:batch 262144 0.25/0.025/-/0.75 =mistralai/mistral-large-2512:batch
openrouter mistralai/mistral-medium-3 131072 0.4/0.04/-/2 =mistralai/mistral-medium-3
openrouter mistralai/mistral-medium-3-5 262144 1.5/-/-/7.5 =mistralai/mistral-medium-3-5 =mistralai/mistral-medium-3.5-20260430
openrouter mistralai/mistral-medium-3-5:batch 262144 0.75/-/-/3.75 =mistralai/mistral-medium-3-5:batch
openrouter mistralai/mistral-medium-3.1 131072 0.4/0.04/-/2 =mistralai/mistral-medium-3.1
openrouter mistralai/mistral-medium-3.1:batch 131072 0.2/0.02/-/1 =mistralai/mistral-medium-3.1:batch
openrouter mistralai/mistral-saba 32768 0.2/0.02/-/0.6 =mistralai/mistral-saba =mistralai/mistral-saba-2502
openrouter mistralai/mistral-small-24b-instruct-2501 32768 0.05/-/-/0.08 =mistralai/mistral-small-24b-instruct-2501
openrouter mistralai/mistral-small-2603:batch 262144 0.075/0.0075/-/0.3 =mistralai/mistral-small-2603:batch
openrouter mistralai/mistral-small-3.1-24b-instruct 128000 0.351/-/-/0.555 =mistralai/mistral-small-3.1-24b-instruct =mistralai/mistral-small-3.1-24b-instruct-2503
openrouter mistralai/mixtral-8x22b-instruct 65536 2/0.2/-/6 =mistralai/mixtral-8x22b-instruct
openrouter mistralai/voxtral-small-24b-2507 32000 0.1/0.01/-/0.3 =mistralai/voxtral-small-24b-2507
openrouter moondream/moondream3-preview 32000 0.3/-/-/2.5 =moondream/moondream3-preview =moondream/moondream3-preview-20261013
openrouter moondream/moondream3.1-9b-a2b 32000 0.3/-/-/2.5 =moondream/moondream3.1-9b-a2b =moondream/moondream3.1-9b-a2b-20261013
openrouter moonshotai/kimi-k2 131072 0.57/-/-/2.3 =moonshotai/kimi-k2
openrouter moonshotai/kimi-k2-0905 262144 0.6/-/-/2.5 =moonshotai/kimi-k2-0905
openrouter moonshotai/kimi-k2-thinking 262144 0.6/0.15/-/2.5 =moonshotai/kimi-k2-thinking =moonshotai/kimi-k2-thinking-20251106
openrouter moonshotai/kimi-k2.5 -/262144 0.532/0.209/-/3.325 =moonshotai/kimi-k2.5 =moonshotai/kimi-k2.5-0127
openrouter moonshotai/kimi-k2.6 -/262144 0.95/0.16/-/4 =moonshotai/kimi-k2.6 =moonshotai/kimi-k2.6-20260420
openrouter moonshotai/kimi-k2.7-code 262144 0.95/0.19/-/4 =moonshotai/kimi-k2.7-code =moonshotai/kimi-k2.7-code-20260612
openrouter moonshotai/kimi-k3 1048576 3/0.3/-/15 =moonshotai/kimi-k3 =moonshotai/kimi-k3-20260715
openrouter moonshotai/kimi-k3.1-pro 1048576 2/0.2/-/10 =moonshotai/kimi-k3.1-pro =moonshotai/kimi-k3.1-pro-20261023
openrouter moonshotai/kimi-k3:batch 1048576 0.917/0.226/-/6 =moonshotai/kimi-k3:batch
openrouter morph/morph-v3-fast 81920 0.8/-/-/1.2 =morph/morph-v3-fast
openrouter morph/morph-v3-fast:batch 81920 0.4/-/-/0.6 =morph/morph-v3-fast:batch
openrouter morph/morph-v3-large 262144 0.9/-/-/1.9 =morph/morph-v3-large
openrouter morph/morph-v3-large:batch 262144 0.45/-/-/0.95 =morph/morph-v3-large:batch
openrouter nex-agi/nex-n2.5-mini 262144 0.025/0.0025/-/0.1 =nex-agi/nex-n2.5-mini =nex-agi/nex-n2.5-mini-20260908
openrouter nex-agi/nex-n2.5-pro 262144 0.075/0.015/-/0.25 =nex-agi/nex-n2.5-pro =nex-agi/nex-n2.5-pro-20260907
openrouter nousresearch/hermes-3-llama-3.1-405b 131072 1/-/-/1 =nousresearch/hermes-3-llama-3.1-405b
openrouter nousresearch/hermes-3-llama-3.1-70b 131072 0.7/-/-/0.7 =nousresearch/hermes-3-llama-3.1-70b
openrouter nousresearch/hermes-4-405b 131072 1/0.2/-/3 =nousresearch/hermes-4-405b
openrouter nousresearch/hermes-4-70b 131072 0.13/-/-/0.4 =nousresearch/hermes-4-70b
openrouter nvidia/nemotron-3-nano-30b-a3b 262144 0.06/0.012/-/0.24 =nvidia/nemotron-3-nano-30b-a3b
openrouter nvidia/nemotron-3-nano-omni-30b-a3b-reasoning:free 256000 -/-/-/- =nvidia/nemotron-3-nano-omni-30b-a3b-reasoning:free
openrouter nvidia/nemotron-3-super-120b-a12b:free 262144 -/-/-/- =nvidia/nemotron-3-super-120b-a12b:free
openrouter nvidia/nemotron-3-ultra-550b-a55b:free 1000000 -/-/-/- =nvidia/nemotron-3-ultra-550b-a55b:free
openrouter nvidia/nemotron-3.5-content-safety 131072 0.2/-/-/0.2 =nvidia/nemotron-3.5-content-safety =nvidia/nemotron-3.5-content-safety-20260604
openrouter nvidia/nemotron-3.5-content-safety:free 128000 -/-/-/- =nvidia/nemotron-3.5-content-safety:free
openrouter nvidia/nemotron-3.5-lightning 262144 0.05/0.01/-/0.2 =nvidia/nemotron-3.5-lightning =nvidia/nemotron-3.5-lightning-20260807
openrouter nvidia/nemotron-3.5-lightning:free 1000000 -/-/-/- =nvidia/nemotron-3.5-lightning:free
openrouter nvidia/nemotron-3.5-super-vl 1048576 0.15/0.02/-/0.5 =nvidia/nemotron-3.5-super-vl =nvidia/nemotron-3.5-super-vl-20261015
openrouter nvidia/nemotron-3.5-super-vl:free 1000000 -/-/-/- =nvidia/nemotron-3.5-super-vl:free
openrouter openai/gpt-3.5-turbo 16385 0.5/-/-/1.5 =gpt-3.5-turbo-0125 =openai/gpt-3.5-turbo
openrouter openai/gpt-3.5-turbo-0613 4095 1/-/-/2 =openai/gpt-3.5-turbo-0613
openrouter openai/gpt-3.5-turbo-1106 -/16385 1/-/-/2 =openai/gpt-3.5-turbo-1106
openrouter openai/gpt-3.5-turbo-16k 16385 3/-/-/4 =openai/gpt-3.5-turbo-16k
openrouter openai/gpt-3.5-turbo-instruct 4095/8192 1.5/-/-/2 =openai/gpt-3.5-turbo-instruct
openrouter openai/gpt-3.5-turbo:batch 16385 0.25/-/-/0.75 =openai/gpt-3.5-turbo:batch
openrouter openai/gpt-4 8191/8192 30/-/-/60 =gpt-4-0314 =openai/gpt-4
openrouter openai/gpt-4-1106-preview -/128000 10/-/-/30 =openai/gpt-4-1106-preview
openrouter openai/gpt-4-turbo 128000 10/-/-/30 =openai/gpt-4-turbo =openai/gpt-4-turbo-preview
openrouter openai/gpt-4-turbo:batch 128000 5/-/-/15 =openai/gpt-4-turbo:batch
openrouter openai/gpt-4.1 1047576 2/0.5/-/8 =openai/gpt-4.1 =openai/gpt-4.1-2025-04-14
openrouter openai/gpt-4.1-mini 1047576 0.4/0.1/-/1.6 =openai/gpt-4.1-mini =openai/gpt-4.1-mini-2025-04-14
openrouter openai/gpt-4.1-mini:batch 1047576 0.2/0.05/-/0.8 =openai/gpt-4.1-mini:batch
openrouter openai/gpt-4.1-nano 1047576 0.1/0.03/-/0.4 =openai/gpt-4.1-nano =openai/gpt-4.1-nano-2025-04-14
openrouter openai/gpt-4.1-nano:batch 1047576 0.05/0.0125/-/0.2 =openai/gpt-4.1-nano:batch
openrouter openai/gpt-4.1:batch 1047576 1/0.25/-/4 =openai/gpt-4.1:batch
openrouter openai/gpt-4o 128000 2.5/1.25/-/10 =openai/gpt-4o =openai/gpt-4o-2024-08-06 =openai/gpt-4o-2024-11-20 =openai/gpt-4o-audio-preview
openrouter openai/gpt-4o-2024-05-13 128000 5/-/-/15 =openai/gpt-4o-2024-05-13
openrouter openai/gpt-4o-mini 128000 0.15/0.075/-/0.6 =openai/gpt-4o-mini =openai/gpt-4o-mini-2024-07-18
openrouter openai/gpt-4o-mini-search-preview -/128000 0.15/-/-/0.6 =openai/gpt-4o-mini-search-preview
openrouter openai/gpt-4o-mini:batch 128000 0.075/0.0375/-/0.3 =openai/gpt-4o-mini:batch
openrouter openai/gpt-4o-search-preview -/128000 2.5/-/-/10 =openai/gpt-4o-search-preview
openrouter openai/gpt-4o:batch 128000 1.25/0.625/-/5 =openai/gpt-4o:batch
openrouter openai/gpt-5 400000/272000 1.25/0.125/-/10 =openai/gpt-5 =openai/gpt-5-2025-08-07 =openai/gpt-5-chat =openai/gpt-5-codex =openai/gpt-5.1-codex-max
openrouter openai/gpt-5-mini 400000/272000 0.25/0.025/-/2 =openai/gpt-5-mini =openai/gpt-5-mini-2025-08-07
openrouter openai/gpt-5-mini:batch 400000 0.125/0.0125/-/1 =openai/gpt-5-mini:batch
openrouter openai/gpt-5-nano 400000/272000 0.05/0.005/-/0.4 =openai/gpt-5-nano =openai/gpt-5-nano-2025-08-07
openrouter openai/gpt-5-nano:batch 400000 0.025/0.0025/-/0.2 =openai/gpt-5-nano:batch
openrouter openai/gpt-5-pro 400000 15/-/-/120 =openai/gpt-5-pro =openai/gpt-5-pro-2025-10-06
openrouter openai/gpt-5-pro:batch 400000 7.5/-/-/60 =openai/gpt-5-pro:batch
openrouter openai/gpt-5.1 400000/272000 1.25/0.125/-/10 =openai/gpt-5.1 =openai/gpt-5.1-20251113 =openai/gpt-5.1-chat =openai/gpt-5.1-codex
openrouter openai/gpt-5.1-codex-mini 400000 0.25/0.03/-/2 =openai/gpt-5.1-codex-mini =openai/gpt-5.1-codex-mini-20251113
openrouter openai/gpt-5.1:batch 400000 0.625/0.0625/-/5 =openai/gpt-5.1:batch
openrouter openai/gpt-5.2 400000/272000 1.75/0.175/-/14 =openai/gpt-5.2 =openai/gpt-5.2-20251211 =openai/gpt-5.2-chat =openai/gpt-5.2-codex
openrouter openai/gpt-5.2-pro 400000/272000 21/-/-/168 =openai/gpt-5.2-pro =openai/gpt-5.2-pro-20251211
openrouter openai/gpt-5.2-pro:batch 400000 10.5/-/-/84 =openai/gpt-5.2-pro:batch
openrouter openai/gpt-5.2:batch 400000 0.875/0.0875/-/7 =openai/gpt-5.2:batch
openrouter openai/gpt-5.3-codex 400000/272000 1.75/0.175/-/14 =openai/gpt-5.3-codex =openai/gpt-5.3-codex-20260224
openrouter openai/gpt-5.4 1050000 2.5/0.25/-/15 =openai/gpt-5.4 =openai/gpt-5.4-20260305
openrouter openai/gpt-5.4-mini 400000/272000 0.75/0.075/-/4.5 =openai/gpt-5.4-mini =openai/gpt-5.4-mini-20260317
openrouter openai/gpt-5.4-mini:batch 400000 0.375/0.0375/-/2.25 =openai/gpt-5.4-mini:batch
openrouter openai/gpt-5.4-nano 400000/272000 0.2/0.02/-/1.25 =openai/gpt-5.4-nano =openai/gpt-5.4-nano-20260317
openrouter openai/gpt-5.4-nano:batch 400000 0.1/0.01/-/0.625 =openai/gpt-5.4-nano:batch
openrouter openai/gpt-5.4-pro 1050000 30/-/-/180 =openai/gpt-5.4-pro =openai/gpt-5.4-pro-20260305
openrouter openai/gpt-5.4-pro:batch 1050000 15/-/-/90 =openai/gpt-5.4-pro:batch
openrouter openai/gpt-5.4:batch 1050000 1.25/0.125/-/7.5 =openai/gpt-5.4:batch
openrouter openai/gpt-5.5 1050000 5/0.5/-/30 =openai/gpt-5.5 =openai/gpt-5.5-20260423
openrouter openai/gpt-5.5-pro 1050000 30/-/-/180 =openai/gpt-5.5-pro =openai/gpt-5.5-pro-20260423
openrouter openai/gpt-5.5-pro:batch 1050000 15/-/-/90 =openai/gpt-5.5-pro:batch
openrouter openai/gpt-5.5:batch 1050000 2.5/0.25/-/15 =openai/gpt-5.5:batch
openrouter openai/gpt-5.6-luna 1050000/922000 0.2/0.02/0.25/1.2 =openai/gpt-5.6-luna =openai/gpt-5.6-luna-20260709 ~^openai/gpt-5\.6-luna-\d{8}$
openrouter openai/gpt-5.6-luna-pro 1050000 0.2/0.02/0.25/1.2 =openai/gpt-5.6-luna-pro =openai/gpt-5.6-luna-pro-20260709
openrouter openai/gpt-5.6-luna-pro:batch 1050000 0.1/0.01/0.125/0.6 =openai/gpt-5.6-luna-pro:batch
openrouter openai/gpt-5.6-luna:batch 1050000 0.1/0.01/0.125/0.6 =openai/gpt-5.6-luna:batch
openrouter openai/gpt-5.6-sol 1050000/922000 4/0.4/5/20 =openai/gpt-5.6-sol =openai/gpt-5.6-sol-20260709 ~^openai/gpt-5\.6-sol-\d{8}$
openrouter openai/gpt-5.6-sol-pro 1050000 4/0.4/5/20 =openai/gpt-5.6-sol-pro =openai/gpt-5.6-sol-pro-20260709
openrouter openai/gpt-5.6-sol-pro:batch 1050000 2/0.2/2.5/10 =openai/gpt-5.6-sol-pro:batch
openrouter openai/gpt-5.6-sol:batch 1050000 2/0.2/2.5/10 =openai/gpt-5.6-sol:batch
openrouter openai/gpt-5.6-terra 1050000/922000 2/0.2/2.5/12 =openai/gpt-5.6-terra =openai/gpt-5.6-terra-20260709 ~^openai/gpt-5\.6-terra-\d{8}$
openrouter openai/gpt-5.6-terra-pro 1050000 2/0.2/2.5/12 =openai/gpt-5.6-terra-pro =openai/gpt-5.6-terra-pro-20260709
openrouter openai/gpt-5.6-terra-pro:batch 1050000 1/0.1/1.25/6 =openai/gpt-5.6-terra-pro:batch
openrouter openai/gpt-5.6-terra:batch 1050000 1/0.1/1.25/6 =openai/gpt-5.6-terra:batch
openrouter openai/gpt-5:batch 400000 0.625/0.0625/-/5 =openai/gpt-5:batch
openrouter openai/gpt-6-astra 1050000/922000 10/1/12.5/50 =openai/gpt-6-astra =openai/gpt-6-astra-20260903 =openai/gpt-6-astra-pro =openai/gpt-6-astra-pro-20260903
openrouter openai/gpt-6-astra-pro:batch 1050000 5/0.5/6.25/25 =openai/gpt-6-astra-pro:batch
openrouter openai/gpt-6-astra:batch 1050000 5/0.5/6.25/25 =openai/gpt-6-astra:batch
openrouter openai/gpt-6-luna 1050000/922000 0.1/0.01/0.125/0.5 =openai/gpt-6-luna =openai/gpt-6-luna-20260922 =openai/gpt-6-luna-pro ~^openai/gpt-6-luna-\d{8}$
openrouter openai/gpt-6-luna:batch 1050000 0.05/0.005/0.0625/0.25 =openai/gpt-6-luna-pro:batch =openai/gpt-6-luna:batch
openrouter openai/gpt-6-sol 1050000/922000 2/0.2/2.5/10 =openai/gpt-6-sol =openai/gpt-6-sol-20260922 =openai/gpt-6-sol-pro ~^openai/gpt-6-sol-\d{8}$
openrouter openai/gpt-6-sol:batch 1050000 1/0.1/1.25/5 =openai/gpt-6-sol-pro:batch =openai/gpt-6-sol:batch
openrouter openai/gpt-6.1-sol 1050000/922000 2/0.1/2.5/10 =openai/gpt-6.1-sol =openai/gpt-6.1-sol-20260929 =openai/gpt-6.1-sol-pro ~^openai/gpt-6\.1-sol-\d{8}$ ~^openai/gpt-6\.1-sol-pro-\d{8}$
openrouter openai/gpt-6.1-sol:batch 1050000 1/0.05/1.25/5 =openai/gpt-6.1-sol-pro:batch =openai/gpt-6.1-sol:batch
openrouter openai/gpt-6.1-terra 1050000/922000 1/0.05/1.25/5 =openai/gpt-6.1-terra =openai/gpt-6.1-terra-20261026 =openai/gpt-6.1-terra-pro =openai/gpt-6.1-terra-pro-20261026
openrouter openai/gpt-6.1-terra-pro:batch 1050000 0.5/0.025/0.625/2.5 =openai/gpt-6.1-terra-pro:batch
openrouter openai/gpt-6.1-terra:batch 1050000 0.5/0.025/0.625/2.5 =openai/gpt-6.1-terra:batch
openrouter openai/gpt-chat-latest 400000 5/0.5/-/30 =openai/gpt-chat-latest =openai/gpt-chat-latest-20260505
openrouter openai/gpt-oss-120b:batch 131072 0.0296/-/-/0.136 =openai/gpt-oss-120b:batch
openrouter openai/gpt-oss-20b 131072 0.03/0.009/-/0.14 =openai/gpt-oss-20b
openrouter openai/gpt-oss-20b:batch 131072 0.024/-/-/0.112 =openai/gpt-oss-20b:batch
openrouter openai/o1 -/200000 15/7.5/-/60 =o1-preview =o1-preview-2024-09-12 =openai/o1 =openai/o1-2024-12-17
openrouter openai/o1-pro 200000 150/-/-/600 =openai/o1-pro
openrouter openai/o3 200000 2/0.5/-/8 =openai/o3 =openai/o3-2025-04-16
openrouter openai/o3-deep-research -/200000 10/2.5/-/40 =openai/o3-deep-research
openrouter openai/o3-mini 200000 1.1/0.55/-/4.4 =openai/o3-mini =openai/o3-mini-2025-01-31 =openai/o3-mini-high
openrouter openai/o3-mini:batch 200000 0.55/0.275/-/2.2 =openai/o3-mini:batch
openrouter openai/o3-pro 200000 20/-/-/80 =openai/o3-pro =openai/o3-pro-2025-06-10
openrouter openai/o3:batch 200000 1/0.25/-/4 =openai/o3:batch
openrouter openai/o4-mini 200000 1.1/0.275/-/4.4 =openai/o4-mini =openai/o4-mini-2025-04-16 =openai/o4-mini-high
openrouter openai/o4-mini-deep-research -/200000 2/0.5/-/8 =openai/o4-mini-deep-research
openrouter openai/o4-mini:batch 200000 0.55/0.1375/-/2.2 =openai/o4-mini:batch
openrouter particle-ai/particle-1 1048576 0.05/0.003/-/0.5 =particle-ai/particle-1 =particle-ai/particle-1-20261027
openrouter perceptron/perceptron-mk1 32768 0.15/-/-/1.5 =perceptron/perceptron-mk1 =perceptron/perceptron-mk1-20260512
openrouter perceptron/perceptron-mk1.5 36864 0.15/-/-/1.5 =perceptron/perceptron-mk1.5 =perceptron/perceptron-mk1.5-20260925
openrouter perplexity/pplx-decider-v1-27b 262144 0.04/-/-/- =perplexity/pplx-decider-v1-27b
openrouter perplexity/pplx-decider-v1.1-27b 262144 0.02/-/-/- =perplexity/pplx-decider-v1.1-27b
openrouter perplexity/sonar 127072/128000 1/-/-/1 =perplexity/sonar
openrouter perplexity/sonar-deep-research 128000 2/-/-/8 =perplexity/sonar-deep-research
openrouter perplexity/sonar-pro 200000 3/-/-/15 =perplexity/sonar-pro
openrouter perplexity/sonar-pro-search 200000 3/-/-/15 =perplexity/sonar-pro-search
openrouter perplexity/sonar-reasoning -/128000 1/-/-/5 =perplexity/sonar-reasoning
openrouter perplexity/sonar-reasoning-pro 128000 2/-/-/8 =perplexity/sonar-reasoning-pro
openrouter poolside/laguna-s-2.1 1048576 0.09/0.009/-/0.18 =poolside/laguna-s-2.1 =poolside/laguna-s-2.1-20260720
openrouter poolside/laguna-s-2.1:free 262144 -/-/-/- =poolside/laguna-s-2.1:free
openrouter poolside/laguna-xs-2.1 262144 0.06/0.03/-/0.12 =poolside/laguna-xs-2.1 =poolside/laguna-xs-2.1-20260625
openrouter poolside/laguna-xs-2.1:free 262144 -/-/-/- =poolside/laguna-xs-2.1:free
openrouter prism-ml/ternary-bonsai-2-27b 262144 0.075/0.0375/-/0.5 =prism-ml/ternary-bonsai-2-27b =prism-ml/ternary-bonsai-2-27b-20260918
openrouter prism-ml/ternary-bonsai-2-9b 262144 0.08/0.04/-/0.13 =prism-ml/ternary-bonsai-2-9b =prism-ml/ternary-bonsai-2-9b-20261015
openrouter qwen/qwen-2.5-7b-instruct 32768 0.1/-/-/0.2 =qwen/qwen-2.5-7b-instruct
openrouter qwen/qwen-2.5-coder-32b-instruct 32768 0.66/-/-/1 =qwen/qwen-2.5-coder-32b-instruct
openrouter qwen/qwen-plus 1000000 0.26/0.052/0.325/0.78 =qwen/qwen-plus =qwen/qwen-plus-2025-01-25
openrouter qwen/qwen-plus-2025-07-28 1000000 0.26/-/-/0.78 =qwen/qwen-plus-2025-07-28
openrouter qwen/qwen3-235b-a22b 131072 0.13/-/-/0.6 =qwen/qwen3-235b-a22b
openrouter qwen/qwen3-30b-a3b-thinking-2507 81920 0.08/-/-/0.4 =qwen/qwen3-30b-a3b-thinking-2507
openrouter qwen/qwen3-8b 131072 0.035/-/-/0.138 =qwen/qwen3-8b
openrouter qwen/qwen3-coder-flash 1000000 0.195/0.039/0.24375/0.975 =qwen/qwen3-coder-flash
openrouter qwen/qwen3-coder-plus 1000000 0.65/0.13/0.8125/3.25 =qwen/qwen3-coder-plus
openrouter qwen/qwen3-max 262144 1.2/-/-/6 =qwen/qwen3-max
openrouter qwen/qwen3-max-thinking 262144 0.78/-/-/3.9 =qwen/qwen3-max-thinking =qwen/qwen3-max-thinking-20260123
openrouter qwen/qwen3-vl-235b-a22b-thinking 131072 0.26/-/-/2.6 =qwen/qwen3-vl-235b-a22b-thinking
openrouter qwen/qwen3-vl-32b-instruct 131072 0.104/-/-/0.416 =qwen/qwen3-vl-32b-instruct
openrouter qwen/qwen3-vl-8b-thinking 131072 0.117/-/-/1.365 =qwen/qwen3-vl-8b-thinking
openrouter qwen/qwen3.5-122b-a10b 262144 0.26/-/-/2.08 =qwen/qwen3.5-122b-a10b =qwen/qwen3.5-122b-a10b-20260224
openrouter qwen/qwen3.5-27b 262144 0.195/-/-/1.56 =qwen/qwen3.5-27b =qwen/qwen3.5-27b-20260224
openrouter qwen/qwen3.5-flash-02-23 1000000 0.065/-/-/0.26 =qwen/qwen3.5-flash-02-23 =qwen/qwen3.5-flash-20260224
openrouter qwen/qwen3.5-plus-02-15 1000000 0.26/-/-/1.56 =qwen/qwen3.5-plus-02-15 =qwen/qwen3.5-plus-20260216
openrouter qwen/qwen3.5-plus-20260420 1000000 0.3/-/0.375/1.8 =qwen/qwen3.5-plus-20260420
openrouter qwen/qwen3.6-flash 1000000 0.1875/-/0.234375/1.125 =qwen/qwen3.6-flash
openrouter qwen/qwen3.6-max-preview 262144 1.04/-/1.3/6.24 =qwen/qwen3.6-max-preview =qwen/qwen3.6-max-preview-20260420
openrouter qwen/qwen3.6-plus 1000000 0.325/-/0.40625/1.95 =qwen/qwen3.6-plus =qwen/qwen3.6-plus-04-02
openrouter qwen/qwen3.7-flash 1000000 0.03/0.006/0.038/0.13 =qwen/qwen3.7-flash =qwen/qwen3.7-flash-20260727
openrouter qwen/qwen3.7-max 1000000 1.475/0.295/1.84375/4.425 =qwen/qwen3.7-max =qwen/qwen3.7-max-20260520
openrouter qwen/qwen3.7-plus 1000000 0.32/0.064/0.4/1.28 =qwen/qwen3.7-plus =qwen/qwen3.7-plus-20260602
openrouter qwen/qwen3.7-plus:batch 262144 0.23/-/-/0.92 =qwen/qwen3.7-plus:batch
openrouter qwen/qwen3.8-2.4t-a95b 1048576 2/0.25/2.5/6 =qwen/qwen3.8-2.4t-a95b =qwen/qwen3.8-2.4t-a95b-20260812
openrouter qwen/qwen3.8-27b 1000000 0.425/0.085/0.53125/2.55 =qwen/qwen3.8-27b =qwen/qwen3.8-27b-20260814
openrouter qwen/qwen3.8-27b:batch 262144 0.16/0.04/0.2/2 =qwen/qwen3.8-27b:batch
openrouter qwen/qwen3.8-flash 1000000 0.15/0.016/-/0.47 =qwen/qwen3.8-flash =qwen/qwen3.8-flash-20260826
openrouter qwen/qwen3.8-max-0902 1000000 2/0.25/-/6 =qwen/qwen3.8-max-0902 =qwen/qwen3.8-max-20260902
openrouter qwen/qwen3.8-max-prime 1000000 4/0.5/-/12 =qwen/qwen3.8-max-prime =qwen/qwen3.8-max-prime-20260923
openrouter qwen/qwen3.8-omni-flash 1000000 0.15/0.016/-/0.47 =qwen/qwen3.8-omni-flash =qwen/qwen3.8-omni-flash-20260918
openrouter recursive/flint-v1.0:free 262144 -/-/-/- =recursive/flint-v1.0:free
openrouter reflection/beam-1.0-501b-a23b 1048576 0.4/0.04/-/1.2 =reflection/beam-1.0-501b-a23b =reflection/beam-1.0-501b-a23b-20261016
openrouter rekaai/reka-edge 16384 0.1/-/-/0.1 =rekaai/reka-edge =rekaai/reka-edge-2603
openrouter rekaai/reka-flash-3 65536 0.1/-/-/0.2 =rekaai/reka-flash-3
openrouter relace/relace-apply-3 256000 0.85/-/-/1.25 =relace/relace-apply-3
openrouter relace/relace-search 256000 1/-/-/3 =relace/relace-search =relace/relace-search-20251208
openrouter ricursiveai/ripple-65b-preview 1048576 0.2/0.05/-/0.6 =ricursiveai/ripple-65b-preview =ricursiveai/ripple-65b-preview-20261104
openrouter sakana/fugu-max 1000000 2/0.25/-/6 =sakana/fugu-max =sakana/fugu-max-20260911
openrouter sakana/fugu-ultra 1000000 5/0.5/-/30 =sakana/fugu-ultra =sakana/fugu-ultra-20260615 =sakana/fugu-ultra-v2 =sakana/fugu-ultra-v2-20260911
openrouter sakana/sakana-namazu 262144 0.95/0.15/-/4 =sakana/namazu-20260811 =sakana/sakana-namazu
openrouter sao10k/l3-lunaris-8b 8192 0.04/-/-/0.05 =sao10k/l3-lunaris-8b
openrouter sao10k/l3.3-euryale-70b 131072 0.65/-/-/0.75 =sao10k/l3.3-euryale-70b =sao10k/l3.3-euryale-70b-v2.3
openrouter scaledown/extract 1000000 0.04/-/-/- =scaledown/extract =scaledown/extract-20260928
openrouter scaledown/summarize 1000000 0.04/-/-/- =scaledown/summarize =scaledown/summarize-20260928
openrouter stealth/crouton-alpha 1048576 -/-/-/- =stealth/crouton-alpha
openrouter stepfun/step-3.5-flash 262144 0.1/0.02/-/0.3 =stepfun/step-3.5-flash
openrouter stepfun/step-5-preview 1048576 1/0.1/-/2.7 =stepfun/step-5-preview =stepfun/step-5-preview-20261008
openrouter tencent/hunyuan-a13b-instruct 131072 0.14/-/-/0.57 =tencent/hunyuan-a13b-instruct
openrouter tencent/hy-mt2-1.8b 8192 0.044/-/-/0.177 =tencent/hy-mt2-1.8b =tencent/hy-mt2-1.8b-20260521
openrouter tencent/hy-mt2-30b-a3b 8192 0.074/-/-/0.295 =tencent/hy-mt2-30b-a3b =tencent/hy-mt2-30b-a3b-20260521
openrouter tencent/hy-mt2-7b 8192 0.074/-/-/0.295 =tencent/hy-mt2-7b =tencent/hy-mt2-7b-20260521
openrouter tencent/hy3-preview 262144 0.18/0.06/-/0.6 =tencent/hy3-preview =tencent/hy3-preview-20260421
openrouter tencent/hy4 1048576 0.417/0.021/-/1.2505 =tencent/hy4 =tencent/hy4-20261104
openrouter thedrummer/cydonia-24b-v4.1 131072 0.3/0.15/-/0.5 =thedrummer/cydonia-24b-v4.1
openrouter thedrummer/skyfall-36b-v2 32768 0.55/0.25/-/0.8 =thedrummer/skyfall-36b-v2
openrouter thinkingmachines/inkling 524288 1/0.17/-/4.05 =thinkingmachines/inkling =thinkingmachines/inkling-20260715
openrouter thinkingmachines/inkling-small 524288 0.45/0.1/-/1.2 =thinkingmachines/inkling-small =thinkingmachines/inkling-small-20260730
openrouter thinkingmachines/inkling-small:batch 524288 0.36/0.08/-/0.96 =thinkingmachines/inkling-small:batch
openrouter thinkingmachines/inkling-small:free 1048576 -/-/-/- =thinkingmachines/inkling-small:free
openrouter thinkingmachines/inkling:free 1048576 -/-/-/- =thinkingmachines/inkling:free
openrouter typesafe/jev-1.13 32000 0.042/-/-/- =typesafe/jev-1.13 ~^typesafe/jev-1\.13-\d{8}$
openrouter typesafe/jev-1.14 32000 0.042/-/-/- =typesafe/jev-1.14 =~typesafe/jev-latest ~^typesafe/jev-1\.14-\d{8}$
openrouter unbiased/pareto-26.10 1048576 0.8/0.03/-/3.2 =unbiased/pareto-26.10 =unbiased/pareto-26.10-20261015
openrouter unbiased/pareto-26.9 262144 2.5/0.25/-/7.5 =unbiased/pareto-26.9 =unbiased/pareto-26.9-20260917
openrouter undi95/remm-slerp-l2-13b 6144 0.35/-/-/0.65 =undi95/remm-slerp-l2-13b
openrouter upstage/solar-mini4 524288 0.05/0.005/-/0.2 =upstage/solar-mini4 =upstage/solar-mini4-20260922
openrouter upstage/solar-pro-3 131072 0.15/0.015/-/0.6 =upstage/solar-pro-3
openrouter upstage/solar-pro4 524288 0.15/0.03/-/0.6 =upstage/solar-pro4 =upstage/solar-pro4-20260810
openrouter writer/palmyra-x5 1040000 0.6/-/-/6 =writer/palmyra-x5 =writer/palmyra-x5-20250428
openrouter x-ai/grok-4-fast 2000000 0.2/0.05/-/0.5 =x-ai/grok-4-fast
openrouter x-ai/grok-4.1-fast:free 2000000 -/-/-/- =x-ai/grok-4.1-fast:free
openrouter x-ai/grok-4.20 2000000/1000000 1.25/0.2/-/2.5 =x-ai/grok-4.20 =x-ai/grok-4.20-20260309
openrouter x-ai/grok-4.20-multi-agent 2000000/1000000 1.25/0.2/-/2.5 =x-ai/grok-4.20-multi-agent =x-ai/grok-4.20-multi-agent-20260309
openrouter x-ai/grok-4.3 1000000 1.25/0.2/-/2.5 =x-ai/grok-4.3 =x-ai/grok-4.3-20260430 ~^x-ai/grok-4\.3-\d{8}$
openrouter x-ai/grok-4.3:batch 1000000 1/0.16/-/2 =x-ai/grok-4.3:batch
openrouter x-ai/grok-4.5 500000 2/0.3/-/6 =x-ai/grok-4.5 =x-ai/grok-4.5-20260708
openrouter x-ai/grok-4.6 500000 2/0.5/-/6 =x-ai/grok-4.6 =x-ai/grok-4.6-20260810
openrouter x-ai/grok-4.6:batch 500000 1.6/0.4/-/4.8 =x-ai/grok-4.6:batch
openrouter x-ai/grok-4.7 500000 2/0.5/-/6 =x-ai/grok-4.7 =x-ai/grok-4.7-20260916
openrouter x-ai/grok-4.7:batch 500000 1.6/0.4/-/4.8 =x-ai/grok-4.7:batch
openrouter x-ai/grok-build-0.1 256000 1/0.2/-/2 =x-ai/grok-build-0.1 =x-ai/grok-build-0.1-20260520
openrouter x-ai/grok-code-fast-1 256000 0.2/0.02/-/1.5 =x-ai/grok-code-fast-1
openrouter xiaomi/mimo-v2.6-flash 1050000 0.14/0.0028/-/0.28 =xiaomi/mimo-v2.6-flash =xiaomi/mimo-v2.6-flash-20260921
openrouter xiaomi/mimo-v2.6-pro 1050000 0.435/0.0036/-/0.87 =xiaomi/mimo-v2.6-pro =xiaomi/mimo-v2.6-pro-20260921
openrouter xiaomi/mimo-v2.6-pro-ultraspeed 1048576 4.35/0.036/-/8.7 =xiaomi/mimo-v2.6-pro-ultraspeed =xiaomi/mimo-v2.6-pro-ultraspeed-20260921
openrouter xingchen-agi/xing4.0-29b-a4b:free 262144 -/-/-/- =xingchen-agi/xing4.0-29b-a4b:free
openrouter z-ai/glm-4.5 131072 0.6/0.11/-/2.2 =z-ai/glm-4.5
openrouter z-ai/glm-4.5-air 131072 0.2/0.03/-/1.1 =z-ai/glm-4.5-air
openrouter z-ai/glm-4.5v 65536 0.6/0.11/-/1.8 =z-ai/glm-4.5v
openrouter z-ai/glm-4.6v 131072 0.3/0.05/-/0.9 =z-ai/glm-4.6-20251208 =z-ai/glm-4.6v
openrouter z-ai/glm-5-turbo 202752 1.2/0.24/-/4 =z-ai/glm-5-turbo =z-ai/glm-5-turbo-20260315
openrouter z-ai/glm-5.2 1048576 1.4/0.26/-/4.4 =z-ai/glm-5.2 =z-ai/glm-5.2-20260616
openrouter z-ai/glm-5.2:batch 1048576 0.623/0.21/-/1.271 =z-ai/glm-5.2:batch
openrouter z-ai/glm-5.3 1048576 1.4/0.26/-/4.4 =z-ai/glm-5.3 =z-ai/glm-5.3-20260816
openrouter z-ai/glm-5.3-flash 1310720 0.15/0.03/-/0.5 =z-ai/glm-5.3-flash =z-ai/glm-5.3-flash-20260826
openrouter z-ai/glm-5.3-flash:batch 1048576 0.061/0.026/-/0.124 =z-ai/glm-5.3-flash:batch
openrouter z-ai/glm-5.3-flashx 1048576 0.37/0.075/-/1.25 =z-ai/glm-5.3-flashx =z-ai/glm-5.3-flashx-20260918
openrouter z-ai/glm-5.3-flashx-legal 1048576 0.37/0.075/-/1.25 =z-ai/glm-5.3-flashx-legal =z-ai/glm-5.3-flashx-legal-20261102
openrouter z-ai/glm-5.3-prime 1000000 2.8/0.56/-/8.8 =z-ai/glm-5.3-prime =z-ai/glm-5.3-prime-20260921
openrouter z-ai/glm-5.3:batch 1048576 0.45/0.1/-/2 =z-ai/glm-5.3:batch
openrouter z-ai/glm-5v-turbo 202752 1.2/0.24/-/4 =z-ai/glm-5v-turbo =z-ai/glm-5v-turbo-20260401
openrouter ~anthropic/claude-fable-latest 1000000 10/0.25/12.5/50 =~anthropic/claude-fable-latest
openrouter ~anthropic/claude-haiku-latest 1000000 0.1/0.01/0.125/0.5 =~anthropic/claude-haiku-latest
openrouter ~anthropic/claude-opus-latest 1000000 4/0.2/5/20 =~anthropic/claude-opus-latest
openrouter ~anthropic/claude-sonnet-latest 1000000 2/0.1/2.5/10 =~anthropic/claude-sonnet-latest
openrouter ~deepseek/deepseek-flash-latest 1048576 0.05/0.012/-/0.15 =~deepseek/deepseek-flash-latest
openrouter ~deepseek/deepseek-pro-latest 1048576 0.225/0.23/-/8 =~deepseek/deepseek-pro-latest
openrouter ~deepseek/deepseek-v4-flash-latest 1048576 0.00688/0.00336/-/0.12 =~deepseek/deepseek-v4-flash-latest
openrouter ~google/gemini-flash-latest 1048576 0.75/0.075/0.0416666666666667/3.75 =~google/gemini-flash-latest
openrouter ~google/gemini-pro-latest 1048576 2/0.1/0.1875/10 =~google/gemini-pro-latest
openrouter ~moonshotai/kimi-latest 1048576 0.239/0.21/-/11.936 =~moonshotai/kimi-latest
openrouter ~openai/gpt-astra-latest 1050000 10/1/12.5/50 =~openai/gpt-astra-latest
openrouter ~openai/gpt-latest 1050000 5/0.5/-/30 =~openai/gpt-latest
openrouter ~openai/gpt-luna-latest 1050000 0.1/0.01/0.125/0.5 =~openai/gpt-luna-latest
openrouter ~openai/gpt-mini-latest 400000 0.75/0.075/-/4.5 =~openai/gpt-mini-latest
openrouter ~openai/gpt-sol-latest 1050000 2/0.1/2.5/10 =~openai/gpt-sol-latest
openrouter ~openai/gpt-terra-latest 1050000 2/0.2/2.5/12 =~openai/gpt-terra-latest
openrouter ~unbiased/pareto-latest 1048576 0.8/0.03/-/3.2 =~unbiased/pareto-latest
openrouter ~x-ai/grok-latest 500000 2/0.5/-/6 =~x-ai/grok-latest
openrouter ~z-ai/glm-flash-latest 1048576 0.048/0.006/-/0.2 =~z-ai/glm-flash-latest
openrouter ~z-ai/glm-latest 1048576 0.042/0.026/-/6 =~z-ai/glm-latest
"""
