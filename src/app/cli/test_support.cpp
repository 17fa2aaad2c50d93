#include "app/cli/test_support.hpp"

#include <cstdlib>
#include <sstream>

#include <fmt/format.h>

#include "app/cli/commands.hpp"
#include "cli/run.hpp"

namespace tenure::app {

Ran RunTenure(const std::vector<std::string>& arguments, bool terminal, const char* typed) {
  setenv("NO_COLOR", "1", 0);  // nothing of who runs the tests
  std::ostringstream out;
  std::ostringstream err;
  std::istringstream person(typed == nullptr ? "" : typed);
  cli::Console console{.out = out,
                       .err = err,
                       .out_is_terminal = terminal,
                       .person = typed == nullptr ? nullptr : &person};
  static const cli::Commands all = AllCommands();
  const int exit = cli::Run(arguments, all, console);
  return {exit, out.str(), err.str()};
}

http::Response Ok(std::string body) {
  return {.status = 200, .body = std::move(body), .headers = {}};
}

http::Response Refusal(int status, std::string body) {
  return {.status = status,
          .body = std::move(body),
          .content_type = "application/problem+json",
          .headers = {}};
}

namespace {

http::ServerOptions AnyPort() {
  http::ServerOptions options;
  options.port = 0;
  return options;
}

}  // namespace

ScriptedServer::ScriptedServer(std::vector<http::Response> answers)
    : answers_(std::move(answers)),
      router_(Routes()),
      server_(AnyPort(), router_, metrics_, base::SystemClock()) {
  server_.Start();
}

ScriptedServer::~ScriptedServer() { server_.Stop(0); }

std::string ScriptedServer::url() const {
  return fmt::format("http://127.0.0.1:{}", server_.port());
}

std::vector<std::string> ScriptedServer::asked() const {
  const std::lock_guard lock(mutex_);
  return asked_;
}

http::Router ScriptedServer::Routes() {
  http::Router router;
  const auto add = [&](http::Method method, const char* pattern, const char* name) {
    router.Add({.method = method,
                .pattern = pattern,
                .operation = name,
                .scope = http::kPublic,
                .handler = [this](const http::ExchangePtr& exchange) { Answer(exchange); },
                .encoded_slash = true});
  };
  add(http::Method::kPut, "/sessions", "put");
  add(http::Method::kGet, "/sessions", "list");
  add(http::Method::kGet, "/sessions/{id}", "get");
  add(http::Method::kDelete, "/sessions/{id}", "end");
  add(http::Method::kGet, "/api/v1/leases", "listLeases");
  add(http::Method::kGet, "/api/v1/leases/{name}", "getLease");
  add(http::Method::kPost, "/api/v1/leases/{name}/break", "breakLease");
  add(http::Method::kGet, "/api/v1/jobs", "listJobs");
  add(http::Method::kGet, "/api/v1/jobs/{name}", "getJob");
  add(http::Method::kGet, "/api/v1/jobs/{name}/runs", "listJobRuns");
  add(http::Method::kPost, "/api/v1/jobs/preview", "previewJob");
  add(http::Method::kGet, "/api/v1/subscriptions", "listSubscriptions");
  add(http::Method::kGet, "/api/v1/topics", "listTopics");
  add(http::Method::kGet, "/api/v1/topics/{name}", "getTopic");
  add(http::Method::kGet, "/health", "getHealth");
  add(http::Method::kGet, "/readyz", "getReady");
  add(http::Method::kGet, "/api/v1/search", "search");
  add(http::Method::kGet, "/api/v1/why/{kind}/{id}", "why");
  add(http::Method::kGet, "/api/v1/overview", "getOverview");
  add(http::Method::kGet, "/api/v1/me", "getMe");
  add(http::Method::kPatch, "/api/v1/topics/{name}", "changeTopic");
  add(http::Method::kGet, "/api/v1/inbox", "listInbox");
  add(http::Method::kGet, "/api/v1/inbox/{source}/{id}", "getInboxEntry");
  add(http::Method::kGet, "/api/v1/tasks", "listTasks");
  add(http::Method::kPost, "/api/v1/tasks/{name}/run", "runTask");
  add(http::Method::kPost, "/api/v1/dead-letters/redrive", "redriveDeadLetters");
  add(http::Method::kPost, "/api/v1/dead-letters/discard", "discardDeadLetters");
  add(http::Method::kGet, "/api/v1/dead-letters", "listDeadLetters");
  add(http::Method::kGet, "/api/v1/messages", "listMessages");
  add(http::Method::kGet, "/api/v1/timers", "listTimers");
  add(http::Method::kGet, "/api/v1/audit", "listAudit");
  add(http::Method::kGet, "/api/v1/organizations", "listOrganizations");
  add(http::Method::kGet, "/api/v1/webhooks/events", "listWebhookEvents");
  add(http::Method::kGet, "/api/v1/webhooks/events/{id}/payload", "getWebhookPayload");
  add(http::Method::kGet, "/api/v1/queues", "listQueues");
  add(http::Method::kGet, "/api/v1/queues/{queue}/sessions", "listQueueSessions");
  add(http::Method::kGet, "/api/v1/queues/{queue}/sessions/{id}/messages", "peekMessages");
  add(http::Method::kGet, "/api/v1/queues/{queue}/dead-letters", "listQueueLetters");
  add(http::Method::kGet, "/api/v1/queues/{queue}/dead-letters/summary", "sumQueueLetters");
  add(http::Method::kGet, "/api/v1/licenses", "listLicenses");
  add(http::Method::kPost, "/api/v1/licenses", "createLicense");
  add(http::Method::kGet, "/api/v1/licenses/{id}", "getLicense");
  add(http::Method::kPatch, "/api/v1/licenses/{id}", "changeLicense");
  add(http::Method::kGet, "/api/v1/licenses/{id}/sessions", "listSeats");
  add(http::Method::kGet, "/api/v1/licenses/{id}/tickets", "listTickets");
  add(http::Method::kGet, "/api/v1/licenses/{id}/log", "listLog");
  add(http::Method::kGet, "/api/v1/licenses/sessions/{id}", "getSeat");
  add(http::Method::kGet, "/usage/windows", "listWindows");
  add(http::Method::kGet, "/usage/windows/{window}/records", "listRecords");
  add(http::Method::kGet, "/usage/refused", "listRefused");
  add(http::Method::kGet, "/usage/totals", "getTotals");
  add(http::Method::kGet, "/usage/factors", "listFactors");
  add(http::Method::kPost, "/usage/factors", "setFactor");
  add(http::Method::kPost, "/usage/send", "send");
  return router;
}

void ScriptedServer::Answer(const http::ExchangePtr& exchange) {
  const http::Request& request = exchange->request();
  http::Response response;
  {
    const std::lock_guard lock(mutex_);
    asked_.push_back(fmt::format("{} {}{}{}{}{}", http::ToText(request.method), request.path,
                                 request.query.empty() ? "" : "?", request.query,
                                 request.body.empty() ? "" : " ", request.body));
    response = answers_.front();
    if (answers_.size() > 1) answers_.erase(answers_.begin());
  }
  exchange->Reply(std::move(response));
}

}  // namespace tenure::app
