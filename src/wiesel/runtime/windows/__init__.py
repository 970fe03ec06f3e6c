"""Internal. Window operators.

State of a window operator, per key; the window is the namespace (see ``namespaces``):

* table ``window-contents``, by window: the elements (a list), or the value of an incremental aggregation; with an evictor the elements with
    their timestamps, ``(element, ms)``;
* table ``merging-window-set``, without namespace, for merging windows: window -> state window;
* timers ``event`` and ``processing``, by window: for triggers, and for the cleanup of windows;
* the states of triggers and window functions, by the names of their descriptors.

The general operator (``operator``) and the fast ones (``fast``, ``fast_sessions``) share this layout, so a job may switch between them.
"""
