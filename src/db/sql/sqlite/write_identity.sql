-- Changes the nonce that this file shares with its side file. Parameters: ?1 nonce
update store set identity = ?1
