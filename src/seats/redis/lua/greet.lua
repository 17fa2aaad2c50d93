-- Which Redis this is, and its time. Result: 'ok', identity, now.
return {'ok', identity, text(now)}
