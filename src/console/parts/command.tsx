import { Copy } from './copy.tsx'
import { Text } from './text.tsx'

/** A command for a shell, to be copied. */
export const Command = ({ parts }: { parts: readonly string[] }) => {
  const text = parts.map(quote).join(' ')
  return (
    <p class="command">
      <code>
        <Text value={text} most={500} />
      </code>
      <Copy text={text} what="the command" />
    </p>
  )
}

const quote = (part: string): string => (/^[\w./:=-]+$/.test(part) ? part : `'${part.replaceAll("'", `'\\''`)}'`)
