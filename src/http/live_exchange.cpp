#include "http/live_exchange.hpp"

#include "base/clock.hpp"
#include "base/error.hpp"
#include "base/log.hpp"
#include "http/connection.hpp"

namespace tenure::http {
namespace {

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

LiveExchange::LiveExchange(std::shared_ptr<Connection> connection, RouteProbe& probe)
    : connection_(std::move(connection)), probe_(&probe), started_us_(base::MeasureMicros()) {}

LiveExchange::~LiveExchange() {
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

const Request& LiveExchange::request() const { return connection_->request(); }
Request& LiveExchange::mutable_request() { return connection_->request(); }
base::Executor& LiveExchange::executor() { return connection_->loop(); }

/// There is one answer, or one end without any.
void LiveExchange::TakeTurn() {
  TENURE_CHECK(connection_->loop().IsCurrent(), "an exchange is answered on its own loop");
  TENURE_CHECK(!replied_, "an exchange is answered once");
  replied_ = true;
}

void LiveExchange::Reply(Response response) {
  TakeTurn();
  span_.Set("http.response.status_code", response.status);
  if (response.status >= 500) span_.Fail();
  span_.End();
  if (connection_->closed()) return connection_->ForgetWaiter();
  probe_->Answered(request().method, response.status, base::MeasureMicros() - started_us_);
  if (quota_.limit > 0) quota_.AddTo(response);
  connection_->Answer(std::move(response));
}

void LiveExchange::HangUp() {
  TakeTurn();
  span_.Fail();
  span_.End();
  connection_->ForgetWaiter();
  connection_->Close();
}

void LiveExchange::CheckMayWait() const {
  TENURE_CHECK(connection_->loop().IsCurrent(), "an exchange waits on its own loop");
  TENURE_CHECK(!replied_, "an exchange that was answered waits for nothing");
}

void LiveExchange::OnClientGone(base::Task gone) {
  CheckMayWait();
  connection_->OnClientGone(std::move(gone));
}

void LiveExchange::OnStopping(base::Task stopping) {
  CheckMayWait();
  connection_->OnStopping(std::move(stopping));
}

}  // namespace tenure::http
