-- Begins a write. IMMEDIATE: a read transaction that is raised to a write later can fail with BUSY at once.
begin immediate
