#pragma once

#include <cstddef>
#include <cstdint>

#include <boost/json/value.hpp>

namespace proteus::json::schema {

// Equality as JSON Schema defines it: numbers by value, so that 1 equals 1.0, also deep inside; objects
// without regard to order. Recurses as deep as both values are nested. Adds to `work` what it cost, in the
// units of SchemaLimits::work.
bool equal(const boost::json::value& a, const boost::json::value& b, std::size_t& work);

// Equal values have equal hashes. Adds to `work` likewise.
std::uint64_t hash(const boost::json::value& value, std::size_t& work);

}  // namespace proteus::json::schema
