#pragma once

#include <memory>

#include "client/message/handlers.hpp"

namespace proteus::providers {

// Returns handlers for everything a server may ask for, so that all of it is declared: what some servers offer depends
// on what the client declares.
std::shared_ptr<const client::Handlers> declare_everything(client::Handler handler);

// Refuses a question that has no caller to answer it.
Task<Result<std::string>> refuse_question(client::Question question);

}  // namespace proteus::providers
