import { isJsonObject, type Json, stringifyJson } from '../api/json.ts'
import { Copy, say, Text } from './text.tsx'

/** Exact JSON. */
export const JsonView = ({ value, label }: { value: Json; label: string }) => (
  <div class="json">
    <Copy text={stringifyJson(value, 2)} what={`${label} as JSON`} />
    <pre tabIndex={0} role="region" aria-label={`${label} as JSON`}>
      <JsonPart value={value} depth={0} />
    </pre>
  </div>
)

const JsonPart = ({ value, depth }: { value: Json; depth: number }) => {
  if (typeof value === 'string')
    return (
      <span class="string">
        "<Text value={stringifyJson(value).slice(1, -1)} most={2_000} />"
      </span>
    )
  if (Array.isArray(value))
    return <JsonMembers open="[" close="]" depth={depth} members={value.map((inner, i) => [i, undefined, inner])} />
  if (isJsonObject(value)) {
    const members = Object.entries(value).map(([name, inner], i): JsonMember => [i, name, inner])
    return <JsonMembers open="{" close="}" depth={depth} members={members} />
  }
  return <span class="scalar">{String(value)}</span>
}

type JsonMember = readonly [at: number, name: string | undefined, value: Json]

const JsonMembers = ({
  open,
  close,
  depth,
  members,
}: {
  open: string
  close: string
  depth: number
  members: readonly JsonMember[]
}) => {
  if (members.length === 0) return open + close
  return (
    <>
      {open}
      {members.map(([at, name, inner]) => (
        <span key={at}>
          {`\n${'  '.repeat(depth + 1)}`}
          {name !== undefined &&
            say`${(
              <span class="name">
                "<Text value={name} brief />"
              </span>
            )}: `}
          <JsonPart value={inner} depth={depth + 1} />
          {at < members.length - 1 && ','}
        </span>
      ))}
      {`\n${'  '.repeat(depth)}${close}`}
    </>
  )
}
