SELECT 'it''s', '', 'a\nb', U&'\00e9t\00e9', x'4142', 'line
break', _UTF8'x';
