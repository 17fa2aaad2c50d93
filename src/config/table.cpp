#include "config/table.hpp"

#include <algorithm>
#include <array>
#include <cctype>

namespace tenure::config {
namespace {

// Where a setting's value stands in Settings.
#define AT(path) \
  [](auto& s) -> auto& { return s.path; }

constexpr std::int64_t kSecond = 1'000;
constexpr std::int64_t kMinute = 60 * kSecond;
constexpr std::int64_t kHour = 60 * kMinute;
constexpr std::int64_t kDay = 24 * kHour;
constexpr std::size_t kKiB = 1'024;
constexpr std::size_t kMiB = 1'024 * kKiB;
constexpr std::int64_t kMaxFactor = 1'000'000'000'000'000;  // 10^9, in millionths
constexpr std::size_t kGiB = 1'024 * kMiB;

constexpr std::array<std::string_view, 2> kMigrateWords{"auto", "check"};
constexpr std::array<std::string_view, 2> kFailoverWords{"asynchronous", "synchronous"};
constexpr std::array<std::string_view, 4> kLevelWords{"debug", "info", "warn", "error"};
constexpr std::array<std::string_view, 3> kStyleWords{"auto", "json", "text"};
constexpr std::array<std::string_view, 2> kForwardedWords{"x-forwarded-for", "forwarded"};

// Name, kind, what it does, when the default is wrong, and what few have besides.
const Setting kTable[] = {
    {"listen",
     HostPort{AT(listen)},
     "The address on which the HTTP API is served; port 0 takes any free one.",
     "To use another port, or to serve other machines once authentication is configured; without "
     "it Tenure binds to loopback addresses only.",
     {.flag = "--listen"}},
    {"data",
     Text{AT(data)},
     "The folder of the embedded store; it is made when it does not exist.",
     "In production: give it a place that is backed up and has room to grow. It has no meaning "
     "with `store.url`.",
     {.flag = "--data"}},
    {"workers",
     Switch{AT(workers)},
     "Whether this process also does background work (expiry, clean-up), or only answers requests.",
     "To keep some processes of an ensemble for requests alone; at least one process must have it "
     "on.",
     {.flag = "--workers"}},
    {"dashboard", Switch{AT(dashboard)},
     "Whether the web page is served below `/ui/`. It holds no data: it asks the API with the "
     "token "
     "of who reads it.",
     "To `off` where nobody is to look at it in a browser."},
    {"rate_limits",
     Switch{AT(rate_limits.enabled)},
     "Whether the limits of the section of this name count; `off` switches all of them off, also "
     "those that exist by default.",
     "To `off` to see whether a limit is what stands in somebody's way, or when a gateway in front "
     "keeps them already.",
     {.takes = Takes::kWhileRunning}},

    {"store.url",
     PostgresUrl{AT(store.url)},
     "The PostgreSQL database that all processes of an ensemble share; empty for the embedded "
     "SQLite store in `data`.",
     "As soon as more than one process or machine shall serve. Keep the password out of it: use "
     "`store.password_file`.",
     {.flag = "--store"}},
    {"store.password", SecretText{AT(store.password)},
     "The password for `store.url` and `store.listen` when they carry none.",
     "Whenever the database asks for a password."},
    {"store.migrate", Choice{AT(store.migrate), kMigrateWords},
     "What happens at start when the store's schema is older than the program: `auto` brings it up "
     "to date, `check` refuses to start.",
     "To `check` where a DBA runs `tenure migrate` with a role of its own."},
    {"store.pooled", Switch{AT(store.pooled)},
     "Whether `store.url` leads through a pooler in transaction mode, such as PgBouncer: then no "
     "prepared statement or session lock is used.",
     "To `on` behind such a pooler, and only there: statements are then parsed anew each time."},
    {"store.listen", PostgresUrl{AT(store.listen)},
     "The direct address of the database, past the pooler, for migrations and for the one "
     "connection that listens for notifications; empty for `store.url`.",
     "Together with `store.pooled`; without it waiting requests are woken by polling."},
    {"store.write_lanes", Integer{AT(store.write_lanes), 1, 64},
     "How many connections of this process write to PostgreSQL at the same time; the embedded "
     "store always has one.",
     "Up when requests queue here while the database is idle; the sum over all processes must fit "
     "its connection limit."},
    {"store.read_lanes", Integer{AT(store.read_lanes), 1, 64},
     "How many connections of this process serve lists and look-ups.",
     "Up when long lists hold up short look-ups."},
    {"store.lock_timeout", Duration{AT(store.lock_timeout_ms), 10, kMinute},
     "How long a transaction waits for a lock that somebody else holds before its requests are "
     "answered 503 `contended`.",
     "Down when callers would rather retry at once; up when your own transactions hold rows of "
     "Tenure for longer."},
    {"store.statement_timeout", Duration{AT(store.statement_timeout_ms), 100, 10 * kMinute},
     "How long one statement may run before the database cancels it.",
     "Up on a slow database when statements of large batches are cancelled."},
    {"store.connect_timeout", Duration{AT(store.connect_timeout_ms), kSecond, kMinute},
     "How long one attempt to connect to the database may take.",
     "Up when the database is far away or wakes up on demand."},
    {"store.freeze", Duration{AT(store.freeze_ms), 0, kDay},
     "How long at least a name is renewed and not granted after the store was restored or a "
     "standby "
     "was promoted: whoever it has forgotten may still hold it. A name that was ever granted for "
     "longer stays so for that long.",
     "Down when no lease is longer than this, up when forgotten ones may be."},
    {"store.failover", Choice{AT(store.failover), kFailoverWords},
     "What a promoted standby has: with `asynchronous` perhaps not the last commits, so names are "
     "frozen for a while; with `synchronous` all of them, and nothing is.",
     "To `synchronous` where `synchronous_standby_names` is set and only such a standby is ever "
     "promoted."},

    {"lanes.queue_items", Integer{AT(lanes.queue_items), 1, 1'000'000},
     "How many requests may wait for one lane; one more is answered 503 at once.",
     "Up for short bursts of more clients than that; a longer queue makes nobody faster under "
     "lasting overload."},
    {"lanes.queue_bytes", ByteSize{AT(lanes.queue_bytes), kMiB, 16 * kGiB},
     "How much memory the requests that wait for one lane may take.",
     "With large bodies, or down on a machine with little memory."},
    {"lanes.batch_items", Integer{AT(lanes.batch_items), 1, 10'000},
     "How many requests share one transaction at most.",
     "Down when a slow store makes single requests wait for large batches."},
    {"lanes.batch_bytes", ByteSize{AT(lanes.batch_bytes), 64 * kKiB, kGiB},
     "How many bytes of requests share one transaction at most; a larger request gets one of its "
     "own.",
     "Together with `lanes.batch_items`."},
    {"lanes.max_wait", Duration{AT(lanes.max_wait_ms), 10, 5 * kMinute},
     "How long a request may wait for its turn; after that it is answered 503 and nothing has "
     "happened.",
     "To a little less than your clients' own time-out: work for a caller who has gone is wasted."},

    {"http.threads", Integer{AT(http.threads), 0, 256},
     "How many threads serve connections; 0 chooses half of the cores, at least one.",
     "To leave cores to a database on the same machine."},
    {"http.max_header", ByteSize{AT(http.max_header_bytes), kKiB, kMiB},
     "The longest request line and header together; beyond it the answer is 431.",
     "Up when tokens with many claims do not fit."},
    {"http.max_body", ByteSize{AT(http.max_body_bytes), kKiB, 64 * kMiB},
     "The largest request body; beyond it the answer is 413.",
     "Up for large payloads, together with `lanes.queue_bytes`."},
    {"http.body_memory", ByteSize{AT(http.body_memory_bytes), kMiB, 64 * kGiB},
     "How much memory the bodies of all requests that are being read or served may take together, "
     "and handshakes of TLS (64 KiB each) with them; a body that does not fit is answered 503.",
     "Up when many large payloads arrive at the same time; down on a small machine."},
    {"http.max_connections", Integer{AT(http.max_connections), 1, 1'000'000},
     "How many connections are served at the same time. One more takes the place of the one that "
     "is idle longest; when all are busy it is answered 503 and closed.",
     "Up with many idle clients; the process needs as many file descriptors, and serves no more "
     "than its limit of open files has room for."},
    {"http.header_timeout", Duration{AT(http.header_timeout_ms), 100, kHour},
     "How long a client may take from a request's first byte to the end of its header (408); one "
     "that connects and says nothing is closed after the same time.",
     "Hardly ever: it keeps slow attackers from holding connections."},
    {"http.body_timeout", Duration{AT(http.body_timeout_ms), 100, kHour},
     "How long a client may take to send a request's body (408).",
     "Up for large bodies over slow lines."},
    {"http.idle_timeout", Duration{AT(http.idle_timeout_ms), 100, kHour},
     "How long a connection may stay open between two requests.",
     "To more than the idle time-out of a load balancer in front, so that it never uses a "
     "connection that is just being closed."},
    {"http.write_timeout", Duration{AT(http.write_timeout_ms), 100, kHour},
     "How long a client may take to read its answer before it is cut off.",
     "Up for long lists over slow lines."},
    {"http.stop_grace", Duration{AT(http.stop_grace_ms), 0, 10 * kMinute},
     "How long requests that are under way may still take after SIGTERM.",
     "To less than what your service manager waits before it kills."},

    {"http.base_path", OptionalText{AT(http.base_path)},
     "The path below which a proxy shows this server, such as `/tenure`: the page, its files and "
     "the "
     "API are answered there, whether or not the proxy takes it off, and without it as before.",
     "When a proxy shows several services under one name."},
    {"http.trusted_proxies", IpBlockList{AT(http.trusted_proxies)},
     "The proxies whose word about the client's address is taken: addresses and blocks such as "
     "`10.0.0.0/8, 2001:db8::/32`. From anybody else it is the socket's.",
     "When a load balancer or a proxy of yours stands in front, and only to its own addresses: "
     "whoever asks from one of them chooses what the log says."},
    {"http.forwarded_header", Choice{AT(http.forwarded_header), kForwardedWords},
     "The one header that those proxies write, `X-Forwarded-For` or `Forwarded` (RFC 7239); the "
     "other is not looked at.",
     "To `forwarded` when your proxies write that one."},
    {"tls.certificate",
     OptionalText{AT(tls.certificate)},
     "The file with the server's certificate in PEM, its own first, then those that lead to the "
     "authority's; empty: plain HTTP. It is read again every ten seconds and on SIGHUP.",
     "Together with `tls.key`, wherever a token could be read on its way. To renew it, put the new "
     "one in its place: no restart is needed, and no request fails.",
     {.takes = Takes::kWhileRunning}},
    {"tls.key",
     OptionalText{AT(tls.key)},
     "The file with the certificate's private key in PEM, without a passphrase; it may be the same "
     "file.",
     "Together with `tls.certificate`. Nobody but the server needs to read it.",
     {.takes = Takes::kWhileRunning}},

    {"auth.issuer", OptionalText{AT(auth.issuer)},
     "Who makes the tokens: what their `iss` must be, to the letter.",
     "Together with `auth.audience` and the keys, to serve anybody but the programs of this "
     "machine."},
    {"auth.audience", OptionalText{AT(auth.audience)},
     "Whom tokens must be meant for: their `aud`, or one of them.",
     "To the name that your issuer has for this service."},
    {"auth.keys",
     TextList{AT(auth.keys), 0},
     "Files with the keys that tokens are verified with: public keys in PEM, a JWK or a JWKS. They "
     "are read again every ten seconds and on SIGHUP.",
     "When keys are handed over as files. To change keys, add the new one, let the issuer use it, "
     "then remove the old one: no restart is needed.",
     {.takes = Takes::kWhileRunning}},
    {"auth.secret",
     SecretText{AT(auth.secret)},
     "The secret of tokens that are signed with HS256, of 32 bytes or more.",
     "When the issuer and this server share a secret; public keys are better, since whoever has "
     "the secret can make tokens.",
     {.takes = Takes::kWhileRunning}},
    {"auth.jwks_url", HttpUrl{AT(auth.jwks_url)},
     "Where the issuer publishes its keys as a JWKS. It is asked every ten minutes, and when a key "
     "is not known, but never twice within 30 seconds.",
     "When the issuer has such an address: then keys change without anybody's help. They are kept "
     "for a day when it does not answer."},
    {"auth.leeway", Duration{AT(auth.leeway_ms), 0, 10 * kMinute},
     "How far the issuer's clock may be off this machine's, for `exp` and `nbf`.",
     "Down where all clocks are kept in step."},
    {"auth.claims.tenant", TextList{AT(auth.claims.tenant), 1},
     "The claim that names the tenant; the first of these that a token has counts.",
     "When your issuer puts the tenant or organisation elsewhere. Whoever can choose this claim's "
     "value chooses the tenant."},

    {"rate_limits.sessions",
     RateLimit{AT(rate_limits.sessions)},
     "How often a person may ask for `/sessions`, or an address when there is no token; beyond it "
     "the answer is 429. As many as one unit of time has may come at once.",
     "When one caller must not take what is there for all. Each process counts by itself: n of "
     "them let n times as many through.",
     {.takes = Takes::kWhileRunning}},
    {"rate_limits.usage",
     RateLimit{AT(rate_limits.usage)},
     "The same for `/usage`.",
     "As `rate_limits.sessions`.",
     {.takes = Takes::kWhileRunning}},
    {"rate_limits.leases",
     RateLimit{AT(rate_limits.leases)},
     "The same for leases, renewals too.",
     "As `rate_limits.sessions`; leave room for the renewals of all leases that one person's "
     "programs hold.",
     {.takes = Takes::kWhileRunning}},
    {"rate_limits.tasks",
     RateLimit{AT(rate_limits.tasks)},
     "The same for reliable tasks.",
     "As `rate_limits.sessions`.",
     {.takes = Takes::kWhileRunning}},
    {"rate_limits.messages",
     RateLimit{AT(rate_limits.messages)},
     "The same for messages, timers, topics and dead letters. A request counts once, however many "
     "messages it has.",
     "As `rate_limits.sessions`.",
     {.takes = Takes::kWhileRunning}},
    {"rate_limits.inbox",
     RateLimit{AT(rate_limits.inbox)},
     "The same for the inbox.",
     "As `rate_limits.sessions`.",
     {.takes = Takes::kWhileRunning}},
    {"rate_limits.queues",
     RateLimit{AT(rate_limits.queues)},
     "The same for ordered queues. A request counts once, however many sessions and messages it "
     "has.",
     "As `rate_limits.sessions`.",
     {.takes = Takes::kWhileRunning}},
    {"rate_limits.webhooks",
     RateLimit{AT(rate_limits.webhooks)},
     "The same for webhooks and the bots that get them. A source's own limit (`rate`) counts "
     "beside "
     "it.",
     "As `rate_limits.sessions`.",
     {.takes = Takes::kWhileRunning}},
    {"rate_limits.licenses",
     RateLimit{AT(rate_limits.licenses)},
     "The same for organisations and licences: what operators ask and change.",
     "As `rate_limits.sessions`.",
     {.takes = Takes::kWhileRunning}},
    {"rate_limits.jobs",
     RateLimit{AT(rate_limits.jobs)},
     "The same for jobs: what is asked and changed, not what fires.",
     "As `rate_limits.sessions`.",
     {.takes = Takes::kWhileRunning}},
    {"rate_limits.push",
     RateLimit{AT(rate_limits.push)},
     "The same for subscriptions: what their owners ask and change, not what is delivered.",
     "As `rate_limits.sessions`.",
     {.takes = Takes::kWhileRunning}},
    {"rate_limits.seats_acquire", RateLimit{AT(rate_limits.seats_acquire)},
     "How often a person may ask for a seat for one machine.",
     "Up when programs on one machine start and stop all the time; give each of them a machine id "
     "of its own first."},
    {"rate_limits.seats_heartbeat", RateLimit{AT(rate_limits.seats_heartbeat)},
     "How many heartbeats one seat may have.",
     "Up when licences have a ttl of a few seconds. It counts by seat and never by person: one "
     "account may hold thousands."},
    {"rate_limits.seats_bulk", RateLimit{AT(rate_limits.seats_bulk)},
     "How often a person may send heartbeats of many seats at once.",
     "Up when one account keeps the seats of many processes."},
    {"rate_limits.seats_misses", RateLimit{AT(rate_limits.seats_misses)},
     "How many licence keys that nobody has a person may name; then every request for a seat is "
     "429 until some time has passed.",
     "Up only for people who test: it is what keeps keys from being guessed."},
    {"rate_limits.ops",
     RateLimit{AT(rate_limits.ops)},
     "The same for `/health`, `/metrics`, `/openapi.json` and the audit; never for the probes "
     "`/livez` and `/readyz`.",
     "As `rate_limits.sessions`.",
     {.takes = Takes::kWhileRunning}},

    {"ops.listen",
     OptionalHostPort{AT(ops.listen)},
     "A second address, which serves `/livez`, `/readyz`, `/health` and `/metrics` and nothing "
     "else, to anybody and without a token. Without authentication it is a loopback address.",
     "For probes and Prometheus, on an address that only they can reach.",
     {.flag = "--ops-listen"}},
    {"metrics.topics", Switch{AT(metrics.topics)},
     "Whether `/metrics` of `ops.listen` (and of no other address) tells how full which topic is, "
     "of "
     "the 200 fullest: it names tenants and their topics.",
     "When whoever reads that address may know them."},

    {"sessions.duration",
     Duration{AT(sessions.duration_ms), kSecond, 3'650 * kDay},
     "How long a session lasts from its start, unless it is ended or upgraded before.",
     "When your contracts grant a session for another time; sessions that exist keep their end.",
     {.scope = Scope::kEnsemble}},
    {"sessions.retention", Duration{AT(sessions.retention_ms), kSecond, 36'500 * kDay},
     "How long an ended session is kept before it is deleted, in any case until its usage is "
     "acknowledged.",
     "When the law or your auditors ask for more, or for less."},
    {"sessions.expiry_interval", Duration{AT(sessions.expiry_interval_ms), 100, kDay},
     "How often sessions past their end are marked as expired; they are never reported active in "
     "between.",
     "Down when the count of expired sessions shall be fresh."},

    {"usage.interval",
     Duration{AT(usage.interval_ms), kSecond, kDay},
     "How long a usage window is; windows begin at whole multiples of it since 1970.",
     "Up when a record per session and minute is more than the receiver wants. A new value counts "
     "from the end of the last closed window on.",
     {.scope = Scope::kEnsemble}},
    {"usage.factors.1",
     Decimal{AT(usage.factor_1), kMaxFactor},
     "What 30 days of a session of kind 1 (Basic) count, until `tenure usage factors set` says "
     "otherwise.",
     "Before the first session; afterwards only the command changes factors.",
     {.scope = Scope::kEnsemble}},
    {"usage.factors.2",
     Decimal{AT(usage.factor_2), kMaxFactor},
     "The same for kind 2 (Standard).",
     "As `usage.factors.1`.",
     {.scope = Scope::kEnsemble}},
    {"usage.factors.3",
     Decimal{AT(usage.factor_3), kMaxFactor},
     "The same for kind 3 (Premium).",
     "As `usage.factors.1`.",
     {.scope = Scope::kEnsemble}},
    {"usage.endpoint", HttpUrl{AT(usage.endpoint)},
     "Where usage records are sent to; empty: windows are closed and can be read, and nothing is "
     "sent.",
     "When you have a receiver, such as `http://127.0.0.1:9090/usages` of `tenure usage-sink`. It "
     "begins with the next window; `tenure usage send` sends older ones."},
    {"usage.auth", SecretText{AT(usage.auth)},
     "The value of the header that tells the receiver who sends, such as `Bearer …`.",
     "Whenever the receiver asks for a credential."},
    {"usage.auth_header", Text{AT(usage.auth_header)}, "The name of that header.",
     "When the receiver wants another one, such as `X-Api-Key`."},
    {"usage.chunk", Integer{AT(usage.chunk), 1, 1'000},
     "How many records one request to the receiver has at most.",
     "Down when the receiver takes less; it is found out anyway, by halving."},
    {"usage.retention", Duration{AT(usage.retention_ms), kDay, 36'500 * kDay},
     "How long closed windows are kept, in any case until they are acknowledged.",
     "Together with `sessions.retention`: records can be told for as long as both are there."},

    {"leases.retention", Duration{AT(leases.retention_ms), kSecond, 3'650 * kDay},
     "How long the name of a lease is kept that nobody uses; its fence is remembered in any case.",
     "Down when programs make up many names and never come back to them."},
    {"leases.history", Duration{AT(leases.history_ms), kHour, 3'650 * kDay},
     "How long a grant that is over is kept in the history. A term is refused for as long as it is "
     "known there, so it must outlast every repeated request.",
     "Up to look further back; down when leases change hands thousands of times a second."},
    {"tasks.retention", Duration{AT(tasks.retention_ms), kSecond, 3'650 * kDay},
     "How long a reliable task is kept that nobody offers to run any more.",
     "Down when programs make up many names and never come back to them."},

    {"topics.retention", Duration{AT(topics.retention_ms), kHour, 3'650 * kDay},
     "How long a topic is kept, with its settings, that has no messages and nobody asks for. A "
     "paused topic stays.",
     "Up when workers of a topic with settings of its own come seldom; down when programs make up "
     "many names."},

    {"messages.payload_max",
     ByteSize{AT(messages.payload_max_bytes), kKiB, 64 * kMiB},
     "The largest payload of a message, over HTTP and in `tenure.enqueue`; beyond it the request "
     "is refused. `http.max_body` must have room for it.",
     "Up only when large things cannot be kept elsewhere: every claim carries the payloads of its "
     "messages.",
     {.scope = Scope::kEnsemble}},
    {"messages.poll_max", Duration{AT(messages.poll_max_ms), 50, kMinute},
     "How seldom those who wait for messages look by themselves, in case that a wake-up was lost.",
     "Down behind a pooler without `store.listen`, where looking is all there is; up to spare a "
     "database that many idle processes ask."},
    {"inbox.retention", Duration{AT(inbox.retention_ms), kSecond, 3'650 * kDay},
     "How long an inbound message is remembered after it was last claimed, completed or failed; "
     "one that is delivered later than that is processed again.",
     "To more than the longest time after which your sources still deliver again."},
    {"inbox.max_attempts", Integer{AT(inbox.max_attempts), 1, 1'000},
     "How many failures of an inbound message may be reported until it is dead. Claims that end "
     "without a word, because their worker crashed, have three times this budget.",
     "Up when what your handlers need often cannot be reached for long."},

    {"jobs.max", Integer{AT(jobs.max), 1, 1'000'000},
     "How many jobs a tenant may have; one more is answered 409.",
     "Up for a tenant with more schedules; down to notice soon who makes one for each request."},
    {"jobs.retention", Duration{AT(jobs.retention_ms), kSecond, 3'650 * kDay},
     "How long runs that are over are kept, the last of each job for ever. It is also how far back "
     "a backfill may go.",
     "Up when you want to look, or to make up for something, further back."},
    {"jobs.skipped_retention", Duration{AT(jobs.skipped_retention_ms), kSecond, 3'650 * kDay},
     "How long notes of times that were left out are kept; never longer than `jobs.retention`.",
     "Up when nobody looks at them each week."},
    {"jobs.missed_after", Duration{AT(jobs.missed_after_ms), 0, kHour},
     "How late a time may fire and still count as late, not as missed: what is later is treated by "
     "the job's `missed`.",
     "Up when the store often cannot be reached for longer and each time matters; the same in all "
     "processes."},
    {"queues.files", TextList{AT(queues.files), 0},
     "Files of sources and bots, one for each tenant. The first process that starts puts them in "
     "force; one that starts with another file says what differs, and refuses.",
     "When bots are configured by files that are rolled out with the program; afterwards `tenure "
     "queue apply` changes them."},
    {"queues.session_retention", Duration{AT(queues.session_retention_ms), kSecond, 3'650 * kDay},
     "How long a session of an ordered queue is kept that has no messages, no history and no "
     "state. One that comes back goes on with higher numbers.",
     "Down where sessions are many and short-lived."},
    {"webhooks.listen", OptionalHostPort{AT(webhooks.listen)},
     "A second address, which takes webhooks and serves nothing else, to anybody: a webhook's "
     "signature opens it. With TLS if `listen` has it.",
     "Where GitHub is to reach webhooks and nobody is to reach anything else; without "
     "authentication the main listener serves local clients only."},
    {"webhooks.max_body", ByteSize{AT(webhooks.max_body_bytes), 64 * kKiB, 64 * kMiB},
     "The largest body of a webhook. One that is larger is refused by its header, before it is "
     "read.",
     "Not below 25MiB where GitHub sends: it sends no more."},
    {"webhooks.bytes_in_flight", ByteSize{AT(webhooks.bytes_in_flight), 1 * kMiB, 64 * kGiB},
     "How much of all webhooks that are being received this process keeps at a time. What is "
     "beyond "
     "it is refused with 503, and nothing of it is stored.",
     "Down where memory is small; to several times `webhooks.max_body` at least."},
    {"webhooks.retention", Duration{AT(webhooks.retention_ms), kMinute, 3'650 * kDay},
     "How long an event that a webhook brought is kept, with its body.",
     "Up to look at older ones; down where bodies take too much of the disk."},
    {"webhooks.dedup", Duration{AT(webhooks.dedup_ms), kMinute, 366 * kDay},
     "For how long a delivery that comes again, with the id that its source gave it, is the same "
     "event. Afterwards it is a new one.",
     "To more than the time after which a source still delivers again: GitHub for 3 days, an "
     "Enterprise Server for 7."},

    {"seats.ttl",
     Duration{AT(seats.ttl_ms), 2 * kSecond, kDay},
     "How long a seat of a new licence is held after a heartbeat, unless the licence says "
     "otherwise.",
     "Down to have the seats of crashed machines back sooner, at the price of more heartbeats.",
     {.scope = Scope::kEnsemble}},
    {"seats.offer", Duration{AT(seats.offer_ms), kSecond, kHour},
     "How long a freed seat is kept for the first of the line until the next one gets it.",
     "Up when those who wait poll seldom."},
    {"seats.ticket_ttl", Duration{AT(seats.ticket_ttl_ms), kSecond, kHour},
     "How long a place in the line lasts without a word of whoever has it.",
     "Up when those who wait poll seldom; each ticket that nobody picks up costs the others the "
     "time of an offer."},
    {"seats.line_max", Integer{AT(seats.line_max), 0, 1'000'000},
     "How many may wait for the seats of one licence.",
     "Down where waiting longer than a few turns makes no sense."},
    {"seats.key_prefix", Text{AT(seats.key_prefix)},
     "What licence keys that Tenure makes begin with, 1 to 20 of `A-Z0-9`, unless the request "
     "names "
     "a prefix.",
     "To the name of your product."},
    {"seats.contact_support", OptionalText{AT(seats.contact_support)},
     "Whom people are told to ask when a licence has expired; empty: nobody is named.",
     "As soon as you have somebody who answers."},
    {"seats.metrics_max", Integer{AT(seats.metrics_max), 0, 100'000},
     "Of how many licences, those with the most seats, `/metrics` has the levels one by one; the "
     "others are summed up.",
     "Down when your metrics system counts time series."},
    {"seats.redis.url", RedisUrl{AT(seats.redis.url)},
     "A Redis that keeps the heartbeats of seats beside a PostgreSQL: `rediss://HOST`, "
     "`redis+unix:///PATH`, or `redis://` on this machine. The store stays the truth, and goes on "
     "alone when the Redis cannot be reached. Empty: the store keeps them.",
     "With about a million live seats, or a PostgreSQL that is short of write capacity; not "
     "before."},
    {"seats.redis.horizon",
     Duration{AT(seats.redis.horizon_ms), 4 * kSecond, 7 * kDay},
     "How far ahead the Redis may promise a seat without asking the store, which writes each seat "
     "once per half of it. Licences with a longer ttl and grace than a quarter of it stay with the "
     "store.",
     "Up for fewer writes; seats that crashed before a Redis was lost are kept at most so long.",
     {.scope = Scope::kEnsemble}},
    {"seats.redis.authority",
     Duration{AT(seats.redis.authority_ms), kSecond, kHour},
     "How long a process uses the Redis without hearing from the store, which is how long "
     "heartbeats go on while the store cannot be reached.",
     "Up when the store cannot be reached for longer at times; crashed seats are kept for as much "
     "longer after a change of the Redis.",
     {.scope = Scope::kEnsemble}},
    {"seats.redis.margin",
     Duration{AT(seats.redis.margin_ms), 100, kMinute},
     "How long after its last promise the Redis says that a seat is free.",
     "Up where clocks of machines differ by seconds; at least twice `seats.redis.clock_tolerance`.",
     {.scope = Scope::kEnsemble}},
    {"seats.redis.clock_tolerance", Duration{AT(seats.redis.clock_tolerance_ms), 10, kMinute},
     "By how much the difference of the Redis's and the store's clock may change before the Redis "
     "counts as another one.",
     "Up where their clocks are not kept together."},
    {"seats.redis.timeout", Duration{AT(seats.redis.timeout_ms), 10, 10 * kSecond},
     "How long a heartbeat waits for the Redis before it goes to the store.",
     "Up when the Redis is far away."},
    {"seats.redis.batch", Integer{AT(seats.redis.batch), 1, 5'000},
     "How many heartbeats go to the Redis in one call, at most.",
     "Down when the Redis has others to serve, who wait as long."},

    {"push.allow", AllowedHostList{AT(push.allow)},
     "Hosts that subscriptions may name: `hooks.example.com`, `*.example.com` (any name below it), "
     "`*`. "
     "Addresses that are not public are refused all the same, unless the very host is named as "
     "`private 10.1.2.3` (in a file `{host: 10.1.2.3, private: true}`). Empty: push is off.",
     "To hand messages to endpoints; name as few hosts as you can."},
    {"push.ca_file", OptionalText{AT(push.ca_file)},
     "A file in PEM with authorities whose certificates endpoints may have, besides the system's.",
     "When endpoints have certificates of your own authority."},
    {"secrets.key_file", OptionalText{AT(secrets.key_file)},
     "A file with the keys that secrets in the store are encrypted with (AES-256-GCM): a line "
     "`id:base64 of 32 bytes` each. The first one encrypts, all of them decrypt. Its owner alone "
     "may "
     "read it.",
     "For push, which keeps secrets of subscriptions; the same file for all processes of an "
     "ensemble."},

    {"audit.retention", Duration{AT(audit.retention_ms), 0, 36'500 * kDay},
     "How long entries of the audit are kept before they are deleted; `0s`: for ever.",
     "When the law or your auditors want them gone; never to save space."},

    {"log.level",
     Choice{AT(log.level), kLevelWords},
     "The least level of the events that are logged.",
     "To `debug` while you look for a cause.",
     {.takes = Takes::kWhileRunning}},
    {"log.format", Choice{AT(log.format), kStyleWords},
     "How events are logged: `json` one object per line, `text` for people, `auto` is `text` on a "
     "terminal and `json` elsewhere.",
     "To `json` when a terminal is what your collector reads."},

    {"telemetry.traces_endpoint", HttpUrl{AT(telemetry.traces_endpoint)},
     "Where spans are sent to as OTLP over HTTP in its JSON form; empty: nothing is traced.",
     "When you have a collector: give its whole address, such as "
     "`http://127.0.0.1:4318/v1/traces`."},
};

#undef AT

constexpr std::string_view kFileSuffix = "_file";

}  // namespace

std::span<const Setting> Table() { return kTable; }

const Setting* FindSetting(std::string_view name) {
  const auto* found = std::ranges::find(kTable, name, &Setting::name);
  return found == std::end(kTable) ? nullptr : found;
}

Addressed FindAddressed(std::string_view name) {
  if (const Setting* setting = FindSetting(name)) return {setting, false};
  if (!name.ends_with(kFileSuffix)) return {};
  const Setting* setting = FindSetting(name.substr(0, name.size() - kFileSuffix.size()));
  if (!setting || !IsSecret(setting->kind)) return {};
  return {setting, true};
}

bool IsSection(std::string_view name) {
  return std::ranges::any_of(kTable, [&](const Setting& setting) {
    return setting.name.size() > name.size() && setting.name.starts_with(name) &&
           setting.name[name.size()] == '.';
  });
}

std::vector<std::string> NamesBelow(std::string_view section) {
  std::vector<std::string> names;
  const std::string prefix = section.empty() ? "" : std::string(section) + '.';
  for (const Setting& setting : kTable) {
    if (!setting.name.starts_with(prefix)) continue;
    std::string name(setting.name.substr(prefix.size()));
    if (const std::size_t dot = name.find('.'); dot != std::string::npos)
      name.resize(dot);
    else if (IsSecret(setting.kind))
      name += kFileSuffix;
    if (std::ranges::find(names, name) == names.end()) names.push_back(std::move(name));
  }
  return names;
}

std::string EnvironmentName(std::string_view name) {
  std::string out = "TENURE_";
  for (const char c : name)
    out += c == '.' ? '_' : static_cast<char>(std::toupper(static_cast<unsigned char>(c)));
  return out;
}

}  // namespace tenure::config
