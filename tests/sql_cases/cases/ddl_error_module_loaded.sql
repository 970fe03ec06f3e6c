-- modes: streaming
LOAD MODULE core;
