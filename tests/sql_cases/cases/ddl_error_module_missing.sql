-- modes: streaming
USE MODULES core, nothing;
