#include "audit/note.hpp"

namespace tenure::audit {

void NoteHandler::WriteItems(db::Transaction&, Items items) {
  for (auto* item : items) {
    item->Did(item->request.deed);
    item->reply = NoteReply{};
  }
}

}  // namespace tenure::audit
