#pragma once

#include <memory>
#include <string>

#include "client/message/handlers.hpp"
#include "gateway/connections/session_tasks.hpp"

namespace proteus::gateway {

// Wraps a handler for the questions that an upstream asks during a task: the question gets the client's id of the task,
// the answer gets the upstream's.
client::Handler with_task_ids(client::Handler ask, std::shared_ptr<const SessionTasks> tasks, std::string upstream);

}  // namespace proteus::gateway
