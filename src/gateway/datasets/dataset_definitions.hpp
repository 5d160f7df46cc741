#pragma once

#include <string>
#include <vector>

#include <boost/json/object.hpp>

#include "gateway/datasets/dataset_registry.hpp"

// What agents read about the tools of datasets.
namespace proteus::gateway::dataset_definitions {

boost::json::object no_arguments();
boost::json::object name_argument();
// With the dataset, or without it for the tool of one.
boost::json::object workup_arguments();
boost::json::object own_workup_arguments();

boost::json::object list_output();
boost::json::object connect_output();
boost::json::object workup_output();

// All tools that are offered, as JSON texts.
std::vector<std::string> write_tools(const DatasetState& state);

}  // namespace proteus::gateway::dataset_definitions
