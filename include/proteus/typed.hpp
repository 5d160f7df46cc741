#pragma once

#include <concepts>
#include <cstdint>
#include <limits>
#include <optional>
#include <stdexcept>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

#include <boost/describe.hpp>
#include <boost/json/serialize.hpp>
#include <boost/mp11.hpp>
#include <proteus/server.hpp>

// Tools whose arguments and results are C++ types. The schemas are generated from the types, so they cannot disagree:
//
//   struct Route { std::string from; std::string to; std::optional<int> stops; };
//   BOOST_DESCRIBE_STRUCT(Route, (), (from, to, stops))
//
//   add_typed_tool<Route>(server, {.name = "plan", .description = "Plans a route"},
//                         [](const Route& route) { return route.from + " to " + route.to; });
//
// Members may be bool, integers, floating point, std::string, std::vector and std::optional of these, described structs
// and described enumerations (by the names of their values). Members that are not optional are required.
namespace proteus::server {

namespace typed {

template <class T>
concept Described = boost::describe::has_describe_members<T>::value;
template <class T>
concept DescribedEnum = boost::describe::has_describe_enumerators<T>::value;

template <class T>
struct IsOptional : std::false_type {};
template <class T>
struct IsOptional<std::optional<T>> : std::true_type {};
template <class T>
struct IsVector : std::false_type {};
template <class T>
struct IsVector<std::vector<T>> : std::true_type {};

template <class T, class Visit>
void for_each_member(Visit&& visit) {
  boost::mp11::mp_for_each<boost::describe::describe_members<T, boost::describe::mod_public>>(
      std::forward<Visit>(visit));
}

template <class T>
boost::json::object schema_of() {
  if constexpr (IsOptional<T>::value) {
    return schema_of<typename T::value_type>();
  } else if constexpr (IsVector<T>::value) {
    return {{"type", "array"}, {"items", schema_of<typename T::value_type>()}};
  } else if constexpr (std::same_as<T, bool>) {
    return {{"type", "boolean"}};
  } else if constexpr (std::integral<T>) {
    // Many clients read numbers as `double`, which cannot express the limits of 64 bits; `read` checks those.
    using Limits = std::numeric_limits<T>;
    boost::json::object schema{{"type", "integer"}};
    if constexpr (std::unsigned_integral<T> || Limits::digits < 63)
      schema["minimum"] = static_cast<std::int64_t>(Limits::min());
    if constexpr (Limits::digits < 63) schema["maximum"] = static_cast<std::int64_t>(Limits::max());
    return schema;
  } else if constexpr (std::floating_point<T>) {
    return {{"type", "number"}};
  } else if constexpr (std::same_as<T, std::string>) {
    return {{"type", "string"}};
  } else if constexpr (DescribedEnum<T>) {
    boost::json::array names;
    boost::mp11::mp_for_each<boost::describe::describe_enumerators<T>>(
        [&](auto enumerator) { names.emplace_back(enumerator.name); });
    return {{"type", "string"}, {"enum", std::move(names)}};
  } else {
    static_assert(Described<T>, "describe the struct with BOOST_DESCRIBE_STRUCT");
    boost::json::object properties;
    boost::json::array required;
    for_each_member<T>([&](auto member) {
      using Member = std::remove_cvref_t<decltype(std::declval<T&>().*member.pointer)>;
      properties[member.name] = schema_of<Member>();
      if constexpr (!IsOptional<Member>::value) required.emplace_back(member.name);
    });
    boost::json::object schema{
        {"type", "object"}, {"properties", std::move(properties)}, {"additionalProperties", false}};
    if (!required.empty()) schema["required"] = std::move(required);
    return schema;
  }
}

// A number that the schema allows and that does not fit its type.
class NumberTooLarge : public std::out_of_range {
 public:
  using std::out_of_range::out_of_range;
};

// Reads a value that was validated against the schema. Throws NumberTooLarge.
template <class T>
T read(const boost::json::value& value) {
  if constexpr (IsOptional<T>::value) {
    return read<typename T::value_type>(value);
  } else if constexpr (IsVector<T>::value) {
    T out;
    for (const auto& element : value.as_array())
      out.push_back(read<typename T::value_type>(element));
    return out;
  } else if constexpr (std::same_as<T, bool>) {
    return value.as_bool();
  } else if constexpr (std::integral<T> || std::floating_point<T>) {
    boost::system::error_code fault;
    const T number = value.to_number<T>(fault);
    if (fault) throw NumberTooLarge(boost::json::serialize(value) + " is too large a number");
    return number;
  } else if constexpr (std::same_as<T, std::string>) {
    return std::string(value.as_string());
  } else if constexpr (DescribedEnum<T>) {
    T out{};
    boost::mp11::mp_for_each<boost::describe::describe_enumerators<T>>([&](auto enumerator) {
      if (value.as_string() == enumerator.name) out = enumerator.value;
    });
    return out;
  } else {
    T out{};
    for_each_member<T>([&](auto member) {
      using Member = std::remove_cvref_t<decltype(out.*member.pointer)>;
      const auto* found = value.as_object().if_contains(member.name);
      if (found != nullptr && !(IsOptional<Member>::value && found->is_null())) {
        out.*member.pointer = read<Member>(*found);
      }
    });
    return out;
  }
}

template <class T>
boost::json::value write(const T& value) {
  if constexpr (IsVector<T>::value) {
    boost::json::array out;
    for (const auto& element : value)
      out.push_back(write(element));
    return out;
  } else if constexpr (DescribedEnum<T>) {
    return boost::describe::enum_to_string(value, "");
  } else if constexpr (Described<T>) {
    boost::json::object out;
    for_each_member<T>([&](auto member) {
      const auto& field = value.*member.pointer;
      if constexpr (IsOptional<std::remove_cvref_t<decltype(field)>>::value) {
        if (field) out[member.name] = write(*field);
      } else {
        out[member.name] = write(field);
      }
    });
    return out;
  } else {
    return boost::json::value(value);
  }
}

template <class R>
Outcome<ToolResult> outcome(R&& result) {
  using Plain = std::remove_cvref_t<R>;
  if constexpr (std::convertible_to<R, Outcome<ToolResult>>) {
    return std::forward<R>(result);
  } else if constexpr (std::convertible_to<R, std::string>) {
    return ToolResult::text(std::string(std::forward<R>(result)));
  } else if constexpr (Described<Plain> && !DescribedEnum<Plain>) {
    return ToolResult::json(write(result));
  } else {
    // In the legacy era only an object can be structured content.
    return ToolResult::json(boost::json::object{{"result", write(result)}});
  }
}

}  // namespace typed

// Adds a tool whose handler takes `const Arguments&` and, optionally, a `Context&`. The handler returns a described
// struct, whose schema becomes the tool's output schema; a string, which becomes text; any other value; a ToolResult;
// or an Outcome<ToolResult>.
template <class Arguments, class Handler>
Result<> add_typed_tool(Server& server, Tool tool, Handler handler) {
  static_assert(typed::Described<Arguments>, "describe the arguments with BOOST_DESCRIBE_STRUCT");
  constexpr bool kWithContext = std::invocable<const Handler&, const Arguments&, Context&>;
  const auto call = [handler = std::move(handler)](const Arguments& arguments, Context& context) {
    if constexpr (kWithContext) {
      return handler(arguments, context);
    } else {
      static_cast<void>(context);
      return handler(arguments);
    }
  };
  using Returned = decltype(call(std::declval<const Arguments&>(), std::declval<Context&>()));
  tool.input_schema = typed::schema_of<Arguments>();
  if constexpr (typed::Described<Returned> && !std::convertible_to<Returned, Outcome<ToolResult>>) {
    tool.output_schema = typed::schema_of<Returned>();
  }
  return server.add_tool(std::move(tool), [call](Context& context) -> Outcome<ToolResult> {
    std::optional<Arguments> arguments;
    try {
      arguments = typed::read<Arguments>(boost::json::value(context.arguments()));
    } catch (const typed::NumberTooLarge& fault) {
      return ToolResult::error(std::string("Invalid arguments:\n") + fault.what());
    }
    return typed::outcome(call(*arguments, context));
  });
}

}  // namespace proteus::server
