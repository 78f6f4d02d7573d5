"""The input of summarizers, their prompt and the headings of summaries; `extractive` summarizes without an LLM."""
