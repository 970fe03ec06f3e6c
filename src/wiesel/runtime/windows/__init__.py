"""Internal. What the window operator is made of.

State of a window operator, per key; a window stands in it as its namespace (see ``namespaces``):

* table ``window-contents``, under the window: the elements (a list), or the one value of an incremental aggregation; with
  an evictor the elements with their timestamps, ``(element, ms)``;
* table ``merging-window-set``, with no namespace, for windows that merge: window -> window under which its contents are kept;
* timers ``event`` and ``processing``, under the window: when triggers want to be called, and when windows are dropped;
* the states of triggers and window functions, by the names of their descriptors.

The general operator (``operator``) and the fast ones (``fast``, ``fast_sessions``) share this layout, so a job may change from one to the
other.
"""
