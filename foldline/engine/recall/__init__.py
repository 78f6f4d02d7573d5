"""Recall: what is indexed of a message, which passages answer a question best, and how they are quoted."""
