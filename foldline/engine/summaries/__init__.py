"""What a summarizer gets and under which headings it writes; `extractive` writes one without an LLM."""
