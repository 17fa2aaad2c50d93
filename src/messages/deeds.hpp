#pragma once

#include <optional>
#include <string>
#include <vector>

#include "db/operation.hpp"
#include "messages/admin.hpp"
#include "messages/topic.hpp"

/// What operators did to messages and topics, for the record (db/recorder.hpp).
namespace tenure::messages {

/// The dead letters that were changed, and the topic of each.
struct Letters {
  std::vector<base::Uuid> ids{};
  std::vector<std::string> topics{};
};

/// The object is the topic, when all are of one. Of many letters the first hundred are named: so
/// much fits, and the others are found by the same filter. REQUIRES: there is one.
db::Deed DeedOf(const DeadChangeRequest& request, const Letters& letters);

/// Old and new values of what is different afterwards; nothing when all is as before.
std::optional<db::Deed> DeedOf(const TopicChange& change, const TopicRow& before);

}  // namespace tenure::messages
