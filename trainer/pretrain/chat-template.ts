/**
 * The base's chat template: ChatML with tools written as short lines instead of JSON, because a small model reads
 * `- city*: City to search in` with a fifth of the tokens. `notes` and `hint` of the last user message stand at its end.
 * Properties are walked by key: with `.items()` a parameter called `items` would hide the method.
 * A space precedes every name, so that a name has the same tokens here, in a sentence and in a call.
 * Every prompt begins with a system block, which says what Qwen2.5's does where there is neither a system message nor a tool: the base
 * has learned nothing of prompts without one, and would answer them with gibberish.
 */
export const CHAT_TEMPLATE = [
  "{%- if messages and messages[0].role == 'system' -%}{%- set system_text = messages[0].content -%}{%- set turns = messages[1:] -%}",
  "{%- else -%}{%- set system_text = '' -%}{%- set turns = messages -%}{%- endif -%}",
  "{{- '<|im_start|>system\\n' + (system_text or ('' if tools else 'You are a helpful assistant.')) -}}",
  "{%- if tools -%}{{- '\\n# Tools' -}}{%- for tool in tools -%}{%- set function = tool.function -%}",
  "{{- '\\n## ' + function.name -}}{%- if function.description -%}{{- ': ' + function.description -}}{%- endif -%}",
  "{%- if function.parameters and function.parameters.properties -%}{%- set properties = function.parameters.properties -%}",
  "{%- for name in properties -%}{%- set parameter = properties[name] -%}",
  "{{- '\\n- ' + name -}}{%- if function.parameters.required and name in function.parameters.required -%}{{- '*' -}}{%- endif -%}",
  "{%- if parameter.type is string and parameter.type != 'string' -%}{{- ' (' + parameter.type + ')' -}}{%- endif -%}",
  "{%- if parameter.enum -%}{{- ' [' -}}{%- for option in parameter.enum -%}{{- ' ' + (option if option is string else option | tojson) + (',' if not loop.last else ' ]') -}}{%- endfor -%}{%- endif -%}",
  "{%- if parameter.default is defined and parameter.default is not none -%}{{- ' = ' + (parameter.default if parameter.default is string else parameter.default | tojson) -}}{%- endif -%}",
  "{%- if parameter.description -%}{{- ': ' + parameter.description -}}{%- endif -%}",
  "{%- endfor -%}{%- endif -%}{%- endfor -%}{%- endif -%}{{- '<|im_end|>\\n' -}}",
  "{%- for message in turns -%}{{- '<|im_start|>' + message.role + '\\n' -}}",
  "{%- if message.content -%}{{- message.content -}}{%- endif -%}",
  "{%- if message.role == 'user' -%}{%- for note in (message.notes or []) -%}{{- '\\n<note> ' + note -}}{%- endfor -%}",
  "{%- if message.hint -%}{{- '\\n<hint> ' + message.hint -}}{%- endif -%}{%- endif -%}",
  "{%- if message.role == 'assistant' -%}{%- for call in (message.tool_calls or []) -%}",
  "{{- '<tool_call>{\"name\": \"' + call.function.name + '\", \"arguments\": ' + call.function.arguments + '}</tool_call>' -}}{%- endfor -%}{%- endif -%}",
  "{{- '<|im_end|>\\n' -}}{%- endfor -%}",
  "{%- if add_generation_prompt -%}{{- '<|im_start|>assistant\\n' -}}{%- endif -%}",
].join("");
