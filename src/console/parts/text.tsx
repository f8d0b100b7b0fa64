import { useState } from 'preact/hooks'
import { visible } from './visible.ts'

interface Props {
  value: string
  /** Characters that are shown at first. */
  most?: number
  /** Without a button for the rest, as in a row of a table. */
  brief?: boolean
}

/**
 * Text from the chain, whatever it is: it cannot change the direction of what stands around it, characters that are not seen are named, and
 * long text is cut.
 */
export const Text = ({ value, most = 200, brief = false }: Props) => {
  const [all, setAll] = useState(false)
  const isLong = value.length > most
  const shown = isLong && !all ? cut(value, most) : value
  return (
    <bdi class="text">
      {visible(shown).map((part, i) =>
        part.name === undefined ? (
          part.text
        ) : (
          <span key={i} class="odd" title={`An invisible character: ${part.name}`}>
            {part.name}
          </span>
        ),
      )}
      {isLong && !all && '…'}
      {isLong && !brief && (
        <button type="button" class="link" onClick={() => setAll(!all)}>
          {all ? 'Show less' : `Show all ${value.length.toLocaleString()} characters`}
        </button>
      )}
    </bdi>
  )
}

/** Never in the middle of a pair. */
const cut = (text: string, length: number): string => {
  const last = text.charCodeAt(length - 1)
  return text.slice(0, last >= 0xd800 && last < 0xdc00 ? length - 1 : length)
}
