#pragma once

#include <memory>
#include <string_view>
#include <utility>
#include <vector>

#include <proteus/error.hpp>

#include "client/message/authorizer.hpp"

namespace proteus::client {

// Passes everything on to another authorizer, and knows whether an exchange ended there: an authorizer may fail with
// any kind of error, so the error does not tell. Belongs to one thread.
class WatchedAuthorizer final : public Authorizer {
 public:
  explicit WatchedAuthorizer(std::shared_ptr<Authorizer> inner) : inner_(std::move(inner)) {}

  Task<Result<std::vector<Header>>> headers(std::string_view method, const net::Url& url) override {
    return watch(inner_->headers(method, url));
  }
  Task<Result<bool>> refused(Refusal refusal) override { return watch(inner_->refused(refusal)); }
  void accepted(std::string_view dpop_nonce) override { inner_->accepted(dpop_nonce); }

  // Returns whether the other authorizer has failed at what it was asked last, or was stopped while it worked on that.
  bool has_failed() const { return has_failed_; }

 private:
  template <class T>
  Task<Result<T>> watch(Task<Result<T>> asking) {
    has_failed_ = true;
    auto answer = co_await std::move(asking);
    has_failed_ = !answer.has_value();
    co_return answer;
  }

  const std::shared_ptr<Authorizer> inner_;
  bool has_failed_ = false;
};

}  // namespace proteus::client
