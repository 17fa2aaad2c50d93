#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "base/allowed_host.hpp"
#include "base/ip.hpp"
#include "base/log.hpp"
#include "base/rate.hpp"
#include "config/secret.hpp"

namespace tenure::config {

// What the program runs by: plain values, made once by config::Load and passed by const reference.
// The initialisers here are the defaults; what each setting does, its bounds and when to change it
// stand in the table (table.cpp) and on the page made from it (docs/reference/settings.md).

/// Where to listen. `host` is a name or an address, IPv6 without its brackets; empty: nowhere.
struct Address {
  std::string host;
  std::uint16_t port = 0;  ///< 0: any free one

  friend bool operator==(const Address&, const Address&) = default;
};

enum class Migrate {
  kAuto,   ///< bring the schema up to date at start
  kCheck,  ///< refuse to start when it is not
};

/// What a standby that was promoted knows.
enum class Failover {
  kAsynchronous,  ///< perhaps not the last commits that were answered
  kSynchronous,   ///< all of them
};

struct StoreSettings {
  std::string url;     ///< empty: embedded SQLite in `data`. Never printed, see RedactedUrl
  std::string listen;  ///< direct address for LISTEN behind a pooler; empty: `url`
  /// Load has put it into `url` and `listen` already: nobody else needs it.
  Secret password;
  Migrate migrate = Migrate::kAuto;
  bool pooled = false;
  int write_lanes = 2;
  int read_lanes = 1;
  std::int64_t lock_timeout_ms = 2'000;
  std::int64_t statement_timeout_ms = 10'000;
  std::int64_t connect_timeout_ms = 5'000;
  std::int64_t freeze_ms = 60'000;
  Failover failover = Failover::kAsynchronous;

  friend bool operator==(const StoreSettings&, const StoreSettings&) = default;
};

struct LaneSettings {
  int queue_items = 4'096;
  std::size_t queue_bytes = 64 * 1024 * 1024;
  int batch_items = 512;
  std::size_t batch_bytes = 4 * 1024 * 1024;
  std::int64_t max_wait_ms = 5'000;

  friend bool operator==(const LaneSettings&, const LaneSettings&) = default;
};

/// Which header a proxy says by for whom it speaks.
enum class ForwardedHeader { kXForwardedFor, kForwarded };

struct HttpSettings {
  int threads = 0;  ///< 0: by the number of cores
  std::size_t max_header_bytes = 16 * 1024;
  std::size_t max_body_bytes = 2 * 1024 * 1024;
  std::size_t body_memory_bytes = 256 * 1024 * 1024;
  int max_connections = 10'000;
  std::int64_t header_timeout_ms = 10'000;
  std::int64_t body_timeout_ms = 30'000;
  std::int64_t idle_timeout_ms = 75'000;
  std::int64_t write_timeout_ms = 30'000;
  std::int64_t stop_grace_ms = 10'000;
  std::string base_path;  ///< "/tenure", without a slash at its end; empty: none
  std::vector<base::IpBlock> trusted_proxies;
  ForwardedHeader forwarded_header = ForwardedHeader::kXForwardedFor;

  friend bool operator==(const HttpSettings&, const HttpSettings&) = default;
};

/// Files in PEM: both, or none for plain HTTP.
struct TlsSettings {
  std::string certificate;
  std::string key;

  bool enabled() const { return !certificate.empty(); }

  friend bool operator==(const TlsSettings&, const TlsSettings&) = default;
};

/// Where in a token something stands.
struct ClaimSettings {
  std::vector<std::string> tenant{"tid", "org_id"};  ///< the first that is there counts

  friend bool operator==(const ClaimSettings&, const ClaimSettings&) = default;
};

struct AuthSettings {
  std::string issuer;
  std::string audience;
  std::vector<std::string> keys;  ///< files
  Secret secret;
  std::string jwks_url;
  std::int64_t leeway_ms = 30'000;
  ClaimSettings claims;

  /// Whether tokens can be verified, and so are asked for.
  bool enabled() const { return !keys.empty() || !secret.empty() || !jwks_url.empty(); }

  friend bool operator==(const AuthSettings&, const AuthSettings&) = default;
};

/// By class of routes (app/service.hpp).
struct RateLimitSettings {
  bool enabled = true;  ///< false: none of them counts
  base::Rate sessions;
  base::Rate usage;
  base::Rate leases;
  base::Rate tasks;
  base::Rate messages;
  base::Rate inbox;
  base::Rate jobs;
  base::Rate queues;
  base::Rate webhooks;
  base::Rate licenses;
  base::Rate push;
  base::Rate seats_acquire{10, 60'000};
  base::Rate seats_heartbeat{20, 60'000};
  base::Rate seats_bulk{60, 60'000};
  base::Rate seats_misses{10, 60'000};
  base::Rate ops;

  friend bool operator==(const RateLimitSettings&, const RateLimitSettings&) = default;
};

struct OpsSettings {
  Address listen;  ///< empty: only the main listener

  friend bool operator==(const OpsSettings&, const OpsSettings&) = default;
};

struct MetricsSettings {
  bool topics = false;

  friend bool operator==(const MetricsSettings&, const MetricsSettings&) = default;
};

struct SessionSettings {
  std::int64_t duration_ms = 30LL * 86'400'000;
  std::int64_t retention_ms = 400LL * 86'400'000;
  std::int64_t expiry_interval_ms = 10LL * 60'000;

  friend bool operator==(const SessionSettings&, const SessionSettings&) = default;
};

struct UsageSettings {
  std::int64_t interval_ms = 60'000;
  /// In millionths, by kind; where the store has none yet.
  std::int64_t factor_1 = 1'000'000;
  std::int64_t factor_2 = 2'000'000;
  std::int64_t factor_3 = 3'000'000;
  std::string endpoint;  ///< empty: nobody is told
  std::string auth_header = "Authorization";
  Secret auth;
  int chunk = 1'000;
  std::int64_t retention_ms = 400LL * 86'400'000;

  friend bool operator==(const UsageSettings&, const UsageSettings&) = default;
};

struct LeaseSettings {
  std::int64_t retention_ms = 30LL * 86'400'000;
  std::int64_t history_ms = 7LL * 86'400'000;

  friend bool operator==(const LeaseSettings&, const LeaseSettings&) = default;
};

struct TopicSettings {
  std::int64_t retention_ms = 30LL * 86'400'000;

  friend bool operator==(const TopicSettings&, const TopicSettings&) = default;
};

struct TaskSettings {
  std::int64_t retention_ms = 30LL * 86'400'000;

  friend bool operator==(const TaskSettings&, const TaskSettings&) = default;
};

struct MessageSettings {
  std::size_t payload_max_bytes = 1024 * 1024;
  std::int64_t poll_max_ms = 1'000;

  friend bool operator==(const MessageSettings&, const MessageSettings&) = default;
};

struct QueueSettings {
  std::vector<std::string> files;  ///< of bots
  std::int64_t session_retention_ms = 30LL * 86'400'000;

  friend bool operator==(const QueueSettings&, const QueueSettings&) = default;
};

struct WebhookSettings {
  Address listen;  ///< empty: only the main listener
  std::size_t max_body_bytes = 25 * 1024 * 1024;
  std::size_t bytes_in_flight = 256 * 1024 * 1024;
  std::int64_t retention_ms = 8LL * 86'400'000;
  std::int64_t dedup_ms = 8LL * 86'400'000;

  friend bool operator==(const WebhookSettings&, const WebhookSettings&) = default;
};

struct InboxSettings {
  std::int64_t retention_ms = 30LL * 86'400'000;
  int max_attempts = 3;

  friend bool operator==(const InboxSettings&, const InboxSettings&) = default;
};

struct JobSettings {
  int max = 10'000;
  std::int64_t retention_ms = 30LL * 86'400'000;
  std::int64_t skipped_retention_ms = 7LL * 86'400'000;
  std::int64_t missed_after_ms = 10'000;

  friend bool operator==(const JobSettings&, const JobSettings&) = default;
};

/// A job that the configuration file lists, as it stands there: what it says is for the capability.
struct FileJob {
  std::string where{};                 ///< "tenure.yaml:12"
  int line = 0;                        ///< of the file
  std::string json{};                  ///< the entry, an object
  std::map<std::string, int> lines{};  ///< of its fields

  friend bool operator==(const FileJob&, const FileJob&) = default;
};

/// A Redis that keeps the heartbeats of seats.
struct SeatRedisSettings {
  std::string url;  ///< empty: the store keeps them
  std::int64_t horizon_ms = 3'600'000;
  std::int64_t authority_ms = 120'000;
  std::int64_t margin_ms = 5'000;
  std::int64_t clock_tolerance_ms = 1'000;
  std::int64_t timeout_ms = 250;
  int batch = 500;

  friend bool operator==(const SeatRedisSettings&, const SeatRedisSettings&) = default;
};

struct SeatSettings {
  std::int64_t ttl_ms = 6LL * 60'000;
  std::int64_t offer_ms = 15'000;
  std::int64_t ticket_ttl_ms = 10'000;
  int line_max = 1'000;
  std::string key_prefix = "TENURE";
  std::string contact_support;
  int metrics_max = 1'000;
  SeatRedisSettings redis;

  friend bool operator==(const SeatSettings&, const SeatSettings&) = default;
};

struct PushSettings {
  std::vector<base::AllowedHost> allow;  ///< empty: push is off
  std::string ca_file;  ///< whose signatures count besides the system's; empty: nobody's

  friend bool operator==(const PushSettings&, const PushSettings&) = default;
};

struct SecretSettings {
  std::string key_file;  ///< empty: there is no secret that could be stored

  friend bool operator==(const SecretSettings&, const SecretSettings&) = default;
};

struct AuditSettings {
  std::int64_t retention_ms = 0;  ///< 0: for ever

  friend bool operator==(const AuditSettings&, const AuditSettings&) = default;
};

enum class LogStyle {
  kAuto,  ///< text on a terminal, JSON elsewhere
  kJson,
  kText,
};

struct LogSettings {
  base::LogLevel level = base::LogLevel::kInfo;
  LogStyle format = LogStyle::kAuto;

  friend bool operator==(const LogSettings&, const LogSettings&) = default;
};

struct TelemetrySettings {
  std::string traces_endpoint;  ///< empty: no traces

  friend bool operator==(const TelemetrySettings&, const TelemetrySettings&) = default;
};

struct Settings {
  Address listen{"127.0.0.1", 8080};
  std::string data = "./tenure-data";
  bool workers = true;
  bool dashboard = true;
  StoreSettings store;
  LaneSettings lanes;
  HttpSettings http;
  TlsSettings tls;
  AuthSettings auth;
  RateLimitSettings rate_limits;
  OpsSettings ops;
  MetricsSettings metrics;
  SessionSettings sessions;
  UsageSettings usage;
  LeaseSettings leases;
  TaskSettings tasks;
  TopicSettings topics;
  MessageSettings messages;
  InboxSettings inbox;
  JobSettings jobs;
  /// None: the file says nothing of jobs. An empty list: it has none.
  std::optional<std::vector<FileJob>> file_jobs;
  QueueSettings queues;
  WebhookSettings webhooks;
  SeatSettings seats;
  PushSettings push;
  SecretSettings secrets;
  AuditSettings audit;
  LogSettings log;
  TelemetrySettings telemetry;

  friend bool operator==(const Settings&, const Settings&) = default;
};

}  // namespace tenure::config
