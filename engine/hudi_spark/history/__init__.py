"""The timeline's history as writers change it: actions leave the active timeline, and are kept for ever."""
