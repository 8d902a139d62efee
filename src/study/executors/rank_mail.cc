#include "study/executors/rank_mail.h"

#include <chrono>
#include <thread>
#include <utility>

#include "base/check.h"
#include "study/executors/message_bytes.h"

namespace inferscale {

RankMail::RankMail(std::unique_ptr<MpiWorld> world) : world_(std::move(world)) {}

void RankMail::send(int to, MailKind kind, std::uint32_t batch, const std::string& content) {
  std::string bytes;
  bytes.reserve(sizeof kind + sizeof batch + content.size());
  put(bytes, kind);
  put(bytes, batch);
  bytes += content;
  world_->send(to, std::move(bytes));
}

std::optional<Mail> RankMail::receive() {
  Mail mail;
  std::string bytes;
  while (world_->receive(mail.from, bytes)) {
    MessageReader reader(bytes);
    mail.kind = reader.take<MailKind>();
    mail.batch = reader.take<std::uint32_t>();
    constexpr std::size_t kHead = sizeof mail.kind + sizeof mail.batch;
    if (mail.kind != MailKind::kFarewell) {
      mail.content = bytes.substr(kHead);
      return mail;
    }
    gone_.insert(mail.from);
    Farewell farewell{.rank = mail.from, .error = {}};
    if (!reader.at_end()) {
      Error error;
      error.code = reader.take<ErrorCode>();
      error.message = reader.take_text();
      error.where = reader.take_text();
      farewell.error = std::move(error);
    }
    if (!farewell_) farewell_ = std::move(farewell);
  }
  return std::nullopt;
}

void RankMail::leave(const std::optional<Error>& error) {
  std::string content;
  if (error) {
    put(content, error->code);
    put_text(content, error->message);
    put_text(content, error->where);
  }
  const int first = rank() == 0 ? 1 : 0;
  const int end = rank() == 0 ? ranks() : 1;
  if (ranks() > 1) {
    for (int to = first; to < end; ++to) send(to, MailKind::kFarewell, 0, content);
    while (gone_.size() < static_cast<std::size_t>(end - first)) {
      if (!receive()) std::this_thread::sleep_for(std::chrono::milliseconds(1));
    }
  }
  world_->leave();
}

}  // namespace inferscale
