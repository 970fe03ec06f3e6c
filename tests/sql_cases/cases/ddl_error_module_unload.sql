-- modes: streaming
UNLOAD MODULE nothing;
