"""nli-faith: are the answers of a RAG system faithful to what was retrieved?"""
__version__ = "0.1.0"
