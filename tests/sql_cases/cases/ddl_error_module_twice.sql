-- modes: streaming
USE MODULES core, core;
