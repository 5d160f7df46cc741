#include "redis/reply.hpp"

#include <fmt/format.h>
#include <hiredis/read.h>

#include "base/log/log.hpp"

namespace proteus::redis {

// Counts the memory of the reply that is being read, before it is allocated.
struct ReplyReader::Making {
  explicit Making(std::size_t limit_of_one) : limit(limit_of_one) {}

  bool take(std::size_t bytes) {
    if (bytes > limit - used) {
      is_over = true;
      return false;
    }
    used += bytes;
    return true;
  }

  const std::size_t limit;
  std::size_t used = 0;
  bool is_over = false;
};

namespace {

template <class Making>
Making& making_of(const redisReadTask* task) {
  return *static_cast<Making*>(task->privdata);
}

// Returns the place of the element that is being read. Its list already has its full size, so no element moves.
Reply* place_for(const redisReadTask* task) {
  if (task->parent == nullptr) return new Reply;
  return &static_cast<Reply*>(task->parent->obj)->elements[static_cast<std::size_t>(task->idx)];
}

// Called from C, so they must not throw. Null ends the reading.
template <class Making>
struct Functions {
  static void* make_string(const redisReadTask* task, char* text, std::size_t size) noexcept {
    if (!making_of<Making>(task).take(size + sizeof(Reply))) return nullptr;
    Reply* const reply = place_for(task);
    reply->kind = task->type == REDIS_REPLY_ERROR    ? Reply::Kind::error
                  : task->type == REDIS_REPLY_STATUS ? Reply::Kind::status
                                                     : Reply::Kind::text;
    reply->text.assign(text, size);
    return reply;
  }
  static void* make_list(const redisReadTask* task, int count) noexcept {
    const auto size = static_cast<std::size_t>(count);
    // Each element counts again when it arrives.
    if (count < 0 || !making_of<Making>(task).take((size + 1) * sizeof(Reply))) return nullptr;
    Reply* const reply = place_for(task);
    reply->kind = Reply::Kind::list;
    reply->elements.resize(size);
    return reply;
  }
  static void* make_number(const redisReadTask* task, long long number) noexcept {
    if (!making_of<Making>(task).take(sizeof(Reply))) return nullptr;
    Reply* const reply = place_for(task);
    reply->kind = Reply::Kind::number;
    reply->number = number;
    return reply;
  }
  static void* make_nothing(const redisReadTask* task) noexcept {
    if (!making_of<Making>(task).take(sizeof(Reply))) return nullptr;
    return place_for(task);
  }
  static void free(void* reply) noexcept { delete static_cast<Reply*>(reply); }

  static inline redisReplyObjectFunctions table{&make_string, &make_list, &make_number, &make_nothing, &free};
};

}  // namespace

void ReplyReader::Free::operator()(redisReader* reader) const { redisReaderFree(reader); }

ReplyReader::ReplyReader(ReplyLimits limits)
    : limits_(limits),
      making_(std::make_unique<Making>(limits.bytes)),
      reader_(redisReaderCreateWithFunctions(&Functions<Making>::table)) {
  if (!reader_) throw std::bad_alloc();
  reader_->privdata = making_.get();
}

ReplyReader::~ReplyReader() = default;

void ReplyReader::feed(std::string_view bytes) {
  // The bytes of one unfinished text or line; lists are parsed as they arrive.
  const std::size_t held = reader_->len - reader_->pos;
  is_over_ = is_over_ || held > limits_.bytes;
  if (!is_over_) redisReaderFeed(reader_.get(), bytes.data(), bytes.size());
}

Result<std::optional<Reply>> ReplyReader::next() {
  if (is_over_) return std::unexpected(errors::too_large("a reply of Redis", limits_.bytes));
  void* read = nullptr;
  if (redisReaderGetReply(reader_.get(), &read) != REDIS_OK) {
    if (making_->is_over) {
      is_over_ = true;
      return std::unexpected(errors::too_large("a reply of Redis", limits_.bytes));
    }
    return std::unexpected(
        errors::protocol(fmt::format("Redis broke its protocol: {}", log::printable(reader_->errstr))));
  }
  if (read == nullptr) return std::nullopt;
  making_->used = 0;
  const std::unique_ptr<Reply> whole(static_cast<Reply*>(read));
  return std::move(*whole);
}

std::optional<std::string_view> Reply::string() const {
  if (kind != Kind::text && kind != Kind::status) return std::nullopt;
  return text;
}

void write_command(std::string& out, const std::vector<std::string_view>& words) {
  fmt::format_to(std::back_inserter(out), "*{}\r\n", words.size());
  for (const std::string_view word : words) {
    fmt::format_to(std::back_inserter(out), "${}\r\n", word.size());
    out.append(word);
    out += "\r\n";
  }
}

}  // namespace proteus::redis
