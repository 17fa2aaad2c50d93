#include "http/exchange.hpp"

#include <functional>

#include <fmt/format.h>

#include "base/clock.hpp"
#include "base/error.hpp"
#include "base/log.hpp"
#include "http/connection.hpp"
#include "http/probe.hpp"
#include "http/router.hpp"
#include "http/text.hpp"

namespace tenure::http {
namespace {

/// Whoever looks at a list again and again is told when it is as it was: the list is not sent, and
/// need not be read.
void TagList(const Request& request, Response& response) {
  constexpr std::string_view kList = R"({"items":)";
  if (request.method != Method::kGet || response.status != 200 || !response.body.starts_with(kList))
    return;
  std::string tag = fmt::format("\"{:016x}\"", std::hash<std::string>()(response.body));
  if (request.FindHeader("If-None-Match") == std::string_view(tag)) {
    response.status = 304;
    response.body.clear();
  }
  response.headers.emplace_back("ETag", std::move(tag));
}

void AnswerForgotten(Connection& connection) {
  if (connection.closed()) return;
  const std::string& request_id = connection.request().request_id;
  base::LogError("http.no_answer", "a handler dropped its request without an answer",
                 {{"request_id", request_id}, {"client", connection.request().client_address}});
  connection.Answer(ToResponse({.status = 500,
                                .type = "internal",
                                .title = "Something went wrong in the server",
                                .detail = "The request was given up without an answer."},
                               request_id));
}

}  // namespace

void Exchange::Conclude(std::string_view result) {
  if (span() && !route().span_result.empty()) span().Set(route().span_result, result);
}

void Exchange::Reply(const base::Fault& fault) {
  if (span()) Conclude(fmt::format("fault:{}", ToText(fault.kind())));
  Problem problem;
  {
    const base::LogScope scope(*this);
    problem = FromFault(fault);
  }
  Reply(problem);
}

base::LogContext Exchange::log_context() {
  auto trace = span().context();
  if (!trace) trace = TraceParentOf(request());
  return {.request_id = request().request_id,
          .client = request().client_address,
          .trace_id = trace ? std::move(trace->trace_id) : std::string()};
}

/// Of two headers neither can be believed.
std::optional<telemetry::TraceParent> TraceParentOf(const Request& request) {
  const Header* found = nullptr;
  for (const Header& header : request.headers) {
    if (!EqualsNoCase(header.name, "traceparent")) continue;
    if (found) return std::nullopt;
    found = &header;
  }
  if (!found) return std::nullopt;
  return telemetry::ParseTraceParent(found->value);
}

Exchange::Exchange(std::shared_ptr<Connection> connection, RouteProbe& probe)
    : connection_(std::move(connection)), probe_(&probe), started_us_(base::MeasureMicros()) {}

Exchange::~Exchange() {
  Loop& loop = connection_->loop();
  if (loop.IsCurrent()) {
    if (!replied_) AnswerForgotten(*connection_);
    return;
  }
  // A connection ends on its own loop, so the reference goes home first. (When the loop has ended
  // it is closed already, and ends here.)
  const auto keep = connection_->shared_loop();
  keep->Post([connection = std::move(connection_), replied = replied_] {
    if (!replied) AnswerForgotten(*connection);
  });
}

const Request& Exchange::request() const { return connection_->request(); }
base::Executor& Exchange::executor() { return connection_->loop(); }

/// There is one answer, or one end without any.
void Exchange::TakeTurn() {
  TENURE_CHECK(connection_->loop().IsCurrent(), "an exchange is answered on its own loop");
  TENURE_CHECK(!replied_, "an exchange is answered once");
  replied_ = true;
}

void Exchange::Reply(Response response) {
  TakeTurn();
  TagList(request(), response);
  span_.Set("http.response.status_code", response.status);
  if (response.status >= 500) span_.Fail();
  span_.End();
  if (connection_->closed()) return connection_->ForgetWaiter();
  probe_->Answered(request().method, response.status, base::MeasureMicros() - started_us_,
                   has_share_);
  if (quota_.limit > 0) quota_.AddTo(response);
  connection_->Answer(std::move(response));
}

void Exchange::HangUp() {
  TakeTurn();
  span_.Fail();
  span_.End();
  connection_->ForgetWaiter();
  connection_->Close();
}

void Exchange::CheckMayWait() const {
  TENURE_CHECK(connection_->loop().IsCurrent(), "an exchange waits on its own loop");
  TENURE_CHECK(!replied_, "an exchange that was answered waits for nothing");
}

Waits::Share Exchange::BeginWait(std::size_t things) {
  CheckMayWait();
  has_share_ = true;
  return connection_->waits().Begin(*request().principal, things);
}

void Exchange::OnClientGone(base::Task gone) {
  CheckMayWait();
  connection_->OnClientGone(std::move(gone));
}

void Exchange::OnStopping(base::Task stopping) {
  CheckMayWait();
  connection_->OnStopping(std::move(stopping));
}

}  // namespace tenure::http
