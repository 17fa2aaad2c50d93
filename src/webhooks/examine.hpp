#pragma once

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "http/exchange.hpp"
#include "webhooks/delivery.hpp"
#include "webhooks/probe.hpp"
#include "webhooks/secrets.hpp"

namespace tenure::webhooks {

/// A webhook whose body is here, before anybody knows who sent it.
struct Knock {
  std::shared_ptr<Delivery> delivery;
  std::string tenant;                   ///< whose source it is
  std::vector<std::string> signatures;  ///< each X-Hub-Signature-256
  SecretKeeper::Secrets secrets;        ///< at least one
  bool form = false;                    ///< the payload is the field of a form
  std::optional<http::Problem>
      mistaken;  ///< what is wrong with the header: told behind the signature
  Outcome mistake = Outcome::kInvalid;
};

/// Reads the header; on the loop. What is wrong with it is noted.
Knock KnockOf(const http::ExchangePtr& exchange, std::string source, SecretKeeper::Secrets secrets);

struct Refusal {
  http::Problem problem;
  Outcome outcome;
};
/// Whether somebody signed it who may, and then whether it is a webhook: nothing else is said to
/// whoever did not sign. Fills in the payload. On any thread.
std::optional<Refusal> Examine(Knock& knock);

http::Problem BadSignature();

}  // namespace tenure::webhooks
