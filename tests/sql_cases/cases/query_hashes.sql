SELECT MD5(s), SHA256(s), TO_BASE64(s), FROM_BASE64(TO_BASE64(s)), HEX(s), ASCII(s), CHR(233) FROM (VALUES ('abc'), (''), ('é')) AS t (s);
