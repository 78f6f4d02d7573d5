"""The words of each language by class, as data. `vocabulary` reads them; the classes are the same in all languages."""
