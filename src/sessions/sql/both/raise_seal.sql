-- A usage window that ends at $1 is closed. Parameters: $1 sealed_ms
-- Lock order: session_bounds, under the seal
update tenure.session_bounds set sealed_ms = $1
