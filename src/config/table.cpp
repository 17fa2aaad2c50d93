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
constexpr std::array<std::string_view, 4> kLevelWords{"debug", "info", "warn", "error"};
constexpr std::array<std::string_view, 3> kStyleWords{"auto", "json", "text"};
constexpr std::array<std::string_view, 2> kForwardedWords{"x-forwarded-for", "forwarded"};

const Setting kTable[] = {
    {.name = "listen",
     .kind = HostPort{AT(listen)},
     .does = "The address on which the HTTP API is served; port 0 takes any free one.",
     .change_when = "To use another port, or to serve other machines once authentication is "
                    "configured; without it Tenure binds to loopback addresses only.",
     .flag = "--listen"},
    {.name = "data",
     .kind = Text{AT(data)},
     .does = "The folder of the embedded store; it is made when it does not exist.",
     .change_when = "In production: give it a place that is backed up and has room to grow. It has "
                    "no meaning with `store.url`.",
     .flag = "--data"},
    {.name = "workers",
     .kind = Switch{AT(workers)},
     .does = "Whether this process also does background work (expiry, clean-up), or only answers "
             "requests.",
     .change_when =
         "To keep some processes of an ensemble for requests alone; at least one process "
         "must have it on.",
     .flag = "--workers"},
    {.name = "rate_limits",
     .kind = Switch{AT(rate_limits.enabled)},
     .does = "Whether the limits of the section of this name count; `off` switches all of them "
             "off, also those that exist by default.",
     .change_when = "To `off` to see whether a limit is what stands in somebody's way, or when a "
                    "gateway in front keeps them already."},

    {.name = "store.url",
     .kind = PostgresUrl{AT(store.url)},
     .does = "The PostgreSQL database that all processes of an ensemble share; empty for the "
             "embedded SQLite store in `data`.",
     .change_when =
         "As soon as more than one process or machine shall serve. Keep the password out "
         "of it: use `store.password_file`.",
     .flag = "--store"},
    {.name = "store.password",
     .kind = SecretText{AT(store.password)},
     .does = "The password for `store.url` and `store.listen` when they carry none.",
     .change_when = "Whenever the database asks for a password."},
    {.name = "store.migrate",
     .kind = Choice{AT(store.migrate), kMigrateWords},
     .does = "What happens at start when the store's schema is older than the program: `auto` "
             "brings it up to date, `check` refuses to start.",
     .change_when = "To `check` where a DBA runs `tenure migrate` with a role of its own."},
    {.name = "store.pooled",
     .kind = Switch{AT(store.pooled)},
     .does = "Whether `store.url` leads through a pooler in transaction mode, such as PgBouncer: "
             "then no prepared statement or session lock is used.",
     .change_when = "To `on` behind such a pooler, and only there: statements are then parsed "
                    "anew each time."},
    {.name = "store.listen",
     .kind = PostgresUrl{AT(store.listen)},
     .does = "The direct address of the database, past the pooler, for migrations and for the one "
             "connection that listens for notifications; empty for `store.url`.",
     .change_when =
         "Together with `store.pooled`; without it waiting requests are woken by polling."},
    {.name = "store.write_lanes",
     .kind = Integer{AT(store.write_lanes), 1, 64},
     .does = "How many connections of this process write to PostgreSQL at the same time; the "
             "embedded store always has one.",
     .change_when = "Up when requests queue here while the database is idle; the sum over all "
                    "processes must fit its connection limit."},
    {.name = "store.read_lanes",
     .kind = Integer{AT(store.read_lanes), 1, 64},
     .does = "How many connections of this process serve lists and look-ups.",
     .change_when = "Up when long lists hold up short look-ups."},
    {.name = "store.lock_timeout",
     .kind = Duration{AT(store.lock_timeout_ms), 10, kMinute},
     .does = "How long a transaction waits for a lock that somebody else holds before its requests "
             "are answered 503 `contended`.",
     .change_when = "Down when callers would rather retry at once; up when your own transactions "
                    "hold rows of Tenure for longer."},
    {.name = "store.statement_timeout",
     .kind = Duration{AT(store.statement_timeout_ms), 100, 10 * kMinute},
     .does = "How long one statement may run before the database cancels it.",
     .change_when = "Up on a slow database when statements of large batches are cancelled."},
    {.name = "store.connect_timeout",
     .kind = Duration{AT(store.connect_timeout_ms), kSecond, kMinute},
     .does = "How long one attempt to connect to the database may take.",
     .change_when = "Up when the database is far away or wakes up on demand."},

    {.name = "lanes.queue_items",
     .kind = Integer{AT(lanes.queue_items), 1, 1'000'000},
     .does = "How many requests may wait for one lane; one more is answered 503 at once.",
     .change_when = "Up for short bursts of more clients than that; a longer queue makes nobody "
                    "faster under lasting overload."},
    {.name = "lanes.queue_bytes",
     .kind = ByteSize{AT(lanes.queue_bytes), kMiB, 16 * kGiB},
     .does = "How much memory the requests that wait for one lane may take.",
     .change_when = "With large bodies, or down on a machine with little memory."},
    {.name = "lanes.batch_items",
     .kind = Integer{AT(lanes.batch_items), 1, 10'000},
     .does = "How many requests share one transaction at most.",
     .change_when = "Down when a slow store makes single requests wait for large batches."},
    {.name = "lanes.batch_bytes",
     .kind = ByteSize{AT(lanes.batch_bytes), 64 * kKiB, kGiB},
     .does = "How many bytes of requests share one transaction at most; a larger request gets one "
             "of its own.",
     .change_when = "Together with `lanes.batch_items`."},
    {.name = "lanes.max_wait",
     .kind = Duration{AT(lanes.max_wait_ms), 10, 5 * kMinute},
     .does = "How long a request may wait for its turn; after that it is answered 503 and nothing "
             "has happened.",
     .change_when = "To a little less than your clients' own time-out: work for a caller who has "
                    "gone is wasted."},

    {.name = "http.threads",
     .kind = Integer{AT(http.threads), 0, 256},
     .does = "How many threads serve connections; 0 chooses by the number of cores.",
     .change_when = "To leave cores to a database on the same machine."},
    {.name = "http.max_header",
     .kind = ByteSize{AT(http.max_header_bytes), kKiB, kMiB},
     .does = "The longest request line and header together; beyond it the answer is 431.",
     .change_when = "Up when tokens with many claims do not fit."},
    {.name = "http.max_body",
     .kind = ByteSize{AT(http.max_body_bytes), kKiB, 64 * kMiB},
     .does = "The largest request body; beyond it the answer is 413.",
     .change_when = "Up for large payloads, together with `lanes.queue_bytes`."},
    {.name = "http.max_connections",
     .kind = Integer{AT(http.max_connections), 1, 1'000'000},
     .does = "How many connections are served at the same time; one more is answered 503 and "
             "closed.",
     .change_when = "Up with many idle clients; the process needs as many file descriptors."},
    {.name = "http.header_timeout",
     .kind = Duration{AT(http.header_timeout_ms), 100, kHour},
     .does = "How long a client may take from a request's first byte to the end of its header "
             "(408).",
     .change_when = "Hardly ever: it keeps slow attackers from holding connections."},
    {.name = "http.body_timeout",
     .kind = Duration{AT(http.body_timeout_ms), 100, kHour},
     .does = "How long a client may take to send a request's body (408).",
     .change_when = "Up for large bodies over slow lines."},
    {.name = "http.idle_timeout",
     .kind = Duration{AT(http.idle_timeout_ms), 100, kHour},
     .does = "How long a connection may stay open between two requests.",
     .change_when = "To more than the idle time-out of a load balancer in front, so that it never "
                    "uses a connection that is just being closed."},
    {.name = "http.write_timeout",
     .kind = Duration{AT(http.write_timeout_ms), 100, kHour},
     .does = "How long a client may take to read its answer before it is cut off.",
     .change_when = "Up for long lists over slow lines."},
    {.name = "http.stop_grace",
     .kind = Duration{AT(http.stop_grace_ms), 0, 10 * kMinute},
     .does = "How long requests that are under way may still take after SIGTERM.",
     .change_when = "To less than what your service manager waits before it kills."},

    {.name = "http.trusted_proxies",
     .kind = IpBlockList{AT(http.trusted_proxies)},
     .does = "The proxies whose word about the client's address is taken: addresses and blocks "
             "such as `10.0.0.0/8, 2001:db8::/32`. From anybody else it is the socket's.",
     .change_when = "When a load balancer or a proxy of yours stands in front, and only to its own "
                    "addresses: whoever asks from one of them chooses what the log says."},
    {.name = "http.forwarded_header",
     .kind = Choice{AT(http.forwarded_header), kForwardedWords},
     .does =
         "The one header that those proxies write, `X-Forwarded-For` or `Forwarded` (RFC 7239); "
         "the other is not looked at.",
     .change_when = "To `forwarded` when your proxies write that one."},
    {.name = "tls.certificate",
     .kind = OptionalText{AT(tls.certificate)},
     .does =
         "The file with the server's certificate in PEM, its own first, then those that lead to "
         "the authority's; empty: plain HTTP. It is read again every ten seconds and on SIGHUP.",
     .change_when = "Together with `tls.key`, wherever a token could be read on its way. To renew "
                    "it, put the new one in its place: no restart is needed, and no request fails.",
     .takes = Takes::kWhileRunning},
    {.name = "tls.key",
     .kind = OptionalText{AT(tls.key)},
     .does = "The file with the certificate's private key in PEM, without a passphrase; it may be "
             "the same file.",
     .change_when = "Together with `tls.certificate`. Nobody but the server needs to read it.",
     .takes = Takes::kWhileRunning},

    {.name = "auth.issuer",
     .kind = OptionalText{AT(auth.issuer)},
     .does = "Who makes the tokens: what their `iss` must be, to the letter.",
     .change_when = "Together with `auth.audience` and the keys, to serve anybody but the programs "
                    "of this machine."},
    {.name = "auth.audience",
     .kind = OptionalText{AT(auth.audience)},
     .does = "Whom tokens must be meant for: their `aud`, or one of them.",
     .change_when = "To the name that your issuer has for this service."},
    {.name = "auth.keys",
     .kind = TextList{AT(auth.keys), 0},
     .does = "Files with the keys that tokens are verified with: public keys in PEM, a JWK or a "
             "JWKS. They are read again every ten seconds and on SIGHUP.",
     .change_when = "When keys are handed over as files. To change keys, add the new one, let the "
                    "issuer use it, then remove the old one: no restart is needed.",
     .takes = Takes::kWhileRunning},
    {.name = "auth.secret",
     .kind = SecretText{AT(auth.secret)},
     .does = "The secret of tokens that are signed with HS256, of 32 bytes or more.",
     .change_when = "When the issuer and this server share a secret; public keys are better, since "
                    "whoever has the secret can make tokens.",
     .takes = Takes::kWhileRunning},
    {.name = "auth.jwks_url",
     .kind = HttpUrl{AT(auth.jwks_url)},
     .does = "Where the issuer publishes its keys as a JWKS. It is asked every ten minutes, and "
             "when a key is not known, but never twice within 30 seconds.",
     .change_when = "When the issuer has such an address: then keys change without anybody's help. "
                    "They are kept for a day when it does not answer."},
    {.name = "auth.leeway",
     .kind = Duration{AT(auth.leeway_ms), 0, 10 * kMinute},
     .does = "How far the issuer's clock may be off this machine's, for `exp` and `nbf`.",
     .change_when = "Down where all clocks are kept in step."},
    {.name = "auth.claims.tenant",
     .kind = TextList{AT(auth.claims.tenant), 1},
     .does = "The claim that names the tenant; the first of these that a token has counts.",
     .change_when =
         "When your issuer puts the tenant or organisation elsewhere. Whoever can choose "
         "this claim's value chooses the tenant."},

    {.name = "rate_limits.sessions",
     .kind = RateLimit{AT(rate_limits.sessions)},
     .does = "How often a person may ask for `/sessions`, or an address when there is no token; "
             "beyond it the answer is 429. As many as one unit of time has may come at once.",
     .change_when = "When one caller must not take what is there for all. Each process counts by "
                    "itself: n of them let n times as many through."},
    {.name = "rate_limits.usage",
     .kind = RateLimit{AT(rate_limits.usage)},
     .does = "The same for `/usage`.",
     .change_when = "As `rate_limits.sessions`."},
    {.name = "rate_limits.leases",
     .kind = RateLimit{AT(rate_limits.leases)},
     .does = "The same for leases, renewals too.",
     .change_when = "As `rate_limits.sessions`; leave room for the renewals of all leases that one "
                    "person's programs hold."},
    {.name = "rate_limits.tasks",
     .kind = RateLimit{AT(rate_limits.tasks)},
     .does = "The same for reliable tasks.",
     .change_when = "As `rate_limits.sessions`."},
    {.name = "rate_limits.messages",
     .kind = RateLimit{AT(rate_limits.messages)},
     .does = "The same for messages, timers, topics and dead letters. A request counts once, "
             "however many messages it has.",
     .change_when = "As `rate_limits.sessions`."},
    {.name = "rate_limits.inbox",
     .kind = RateLimit{AT(rate_limits.inbox)},
     .does = "The same for the inbox.",
     .change_when = "As `rate_limits.sessions`."},
    {.name = "rate_limits.ops",
     .kind = RateLimit{AT(rate_limits.ops)},
     .does = "The same for `/health`, `/metrics`, `/openapi.json` and the audit; never for the "
             "probes `/livez` and `/readyz`.",
     .change_when = "As `rate_limits.sessions`."},

    {.name = "ops.listen",
     .kind = OptionalHostPort{AT(ops.listen)},
     .does = "A second address, which serves `/livez`, `/readyz`, `/health` and `/metrics` and "
             "nothing else, to anybody and without a token.",
     .change_when = "For probes and Prometheus, on an address that only they can reach.",
     .flag = "--ops-listen"},

    {.name = "sessions.duration",
     .kind = Duration{AT(sessions.duration_ms), kSecond, 3'650 * kDay},
     .does = "How long a session lasts from its start, unless it is ended or upgraded before.",
     .change_when =
         "When your contracts grant a session for another time; sessions that exist keep "
         "their end.",
     .scope = Scope::kEnsemble},
    {.name = "sessions.retention",
     .kind = Duration{AT(sessions.retention_ms), kSecond, 36'500 * kDay},
     .does = "How long an ended session is kept before it is deleted, in any case until its usage "
             "is acknowledged.",
     .change_when = "When the law or your auditors ask for more, or for less."},
    {.name = "sessions.expiry_interval",
     .kind = Duration{AT(sessions.expiry_interval_ms), 100, kDay},
     .does = "How often sessions past their end are marked as expired; they are never reported "
             "active in between.",
     .change_when = "Down when the count of expired sessions shall be fresh."},

    {.name = "usage.interval",
     .kind = Duration{AT(usage.interval_ms), kSecond, kDay},
     .does = "How long a usage window is; windows begin at whole multiples of it since 1970.",
     .change_when =
         "Up when a record per session and minute is more than the receiver wants. A new "
         "value counts from the end of the last closed window on.",
     .scope = Scope::kEnsemble},
    {.name = "usage.factors.1",
     .kind = Decimal{AT(usage.factor_1), kMaxFactor},
     .does = "What 30 days of a session of kind 1 (Basic) count, until `tenure usage factors set` "
             "says otherwise.",
     .change_when = "Before the first session; afterwards only the command changes factors.",
     .scope = Scope::kEnsemble},
    {.name = "usage.factors.2",
     .kind = Decimal{AT(usage.factor_2), kMaxFactor},
     .does = "The same for kind 2 (Standard).",
     .change_when = "As `usage.factors.1`.",
     .scope = Scope::kEnsemble},
    {.name = "usage.factors.3",
     .kind = Decimal{AT(usage.factor_3), kMaxFactor},
     .does = "The same for kind 3 (Premium).",
     .change_when = "As `usage.factors.1`.",
     .scope = Scope::kEnsemble},
    {.name = "usage.endpoint",
     .kind = HttpUrl{AT(usage.endpoint)},
     .does = "Where usage records are sent to; empty: windows are closed and can be read, and "
             "nothing is sent.",
     .change_when = "When you have a receiver, such as `http://127.0.0.1:9090/usages` of `tenure "
                    "usage-sink`. It begins with the next window; `tenure usage send` sends older "
                    "ones."},
    {.name = "usage.auth",
     .kind = SecretText{AT(usage.auth)},
     .does = "The value of the header that tells the receiver who sends, such as `Bearer …`.",
     .change_when = "Whenever the receiver asks for a credential."},
    {.name = "usage.auth_header",
     .kind = Text{AT(usage.auth_header)},
     .does = "The name of that header.",
     .change_when = "When the receiver wants another one, such as `X-Api-Key`."},
    {.name = "usage.chunk",
     .kind = Integer{AT(usage.chunk), 1, 1'000},
     .does = "How many records one request to the receiver has at most.",
     .change_when = "Down when the receiver takes less; it is found out anyway, by halving."},
    {.name = "usage.retention",
     .kind = Duration{AT(usage.retention_ms), kDay, 36'500 * kDay},
     .does = "How long closed windows are kept, in any case until they are acknowledged.",
     .change_when = "Together with `sessions.retention`: records can be told for as long as both "
                    "are there."},

    {.name = "leases.retention",
     .kind = Duration{AT(leases.retention_ms), kSecond, 3'650 * kDay},
     .does = "How long the name of a lease is kept that nobody uses; its fence is remembered in "
             "any case.",
     .change_when = "Down when programs make up many names and never come back to them."},
    {.name = "leases.history",
     .kind = Duration{AT(leases.history_ms), kHour, 3'650 * kDay},
     .does = "How long a grant that is over is kept in the history. A term is refused for as long "
             "as it is known there, so it must outlast every repeated request.",
     .change_when = "Up to look further back; down when leases change hands thousands of times a "
                    "second."},

    {.name = "messages.payload_max",
     .kind = ByteSize{AT(messages.payload_max_bytes), kKiB, 64 * kMiB},
     .does = "The largest payload of a message, over HTTP and in `tenure.enqueue`; beyond it the "
             "request is refused. `http.max_body` must have room for it.",
     .change_when = "Up only when large things cannot be kept elsewhere: every claim carries the "
                    "payloads of its messages.",
     .scope = Scope::kEnsemble},
    {.name = "messages.poll_max",
     .kind = Duration{AT(messages.poll_max_ms), 50, kMinute},
     .does = "How seldom those who wait for messages look by themselves, in case that a wake-up "
             "was lost.",
     .change_when = "Down behind a pooler without `store.listen`, where looking is all there is; "
                    "up to spare a database that many idle processes ask."},
    {.name = "inbox.retention",
     .kind = Duration{AT(inbox.retention_ms), kSecond, 3'650 * kDay},
     .does = "How long an inbound message is remembered after it was last claimed, completed or "
             "failed; one that is delivered later than that is processed again.",
     .change_when = "To more than the longest time after which your sources still deliver again."},
    {.name = "inbox.max_attempts",
     .kind = Integer{AT(inbox.max_attempts), 1, 1'000},
     .does = "How many failures of an inbound message may be reported until it is dead. Claims "
             "that end without a word, because their worker crashed, have three times this budget.",
     .change_when = "Up when what your handlers need is often away for long."},

    {.name = "audit.retention",
     .kind = Duration{AT(audit.retention_ms), 0, 36'500 * kDay},
     .does = "How long entries of the audit are kept before they are deleted; `0s`: for ever.",
     .change_when = "When the law or your auditors want them gone; never to save space."},

    {.name = "log.level",
     .kind = Choice{AT(log.level), kLevelWords},
     .does = "The least level of the events that are logged.",
     .change_when = "To `debug` while you look for a cause.",
     .takes = Takes::kWhileRunning},
    {.name = "log.format",
     .kind = Choice{AT(log.format), kStyleWords},
     .does = "How events are logged: `json` one object per line, `text` for people, `auto` is "
             "`text` on a terminal and `json` elsewhere.",
     .change_when = "To `json` when a terminal is what your collector reads."},

    {.name = "telemetry.traces_endpoint",
     .kind = HttpUrl{AT(telemetry.traces_endpoint)},
     .does =
         "Where spans are sent to as OTLP over HTTP in its JSON form; empty: nothing is traced.",
     .change_when = "When you have a collector: give its whole address, such as "
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
