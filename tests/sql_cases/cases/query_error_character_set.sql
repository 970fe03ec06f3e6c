-- modes: batch
SELECT _LATIN1'€';
