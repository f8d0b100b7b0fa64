import { Link } from '../shell/router.tsx'
import { hrefOf } from '../things.ts'
import { Copy } from './copy.tsx'
import { Text } from './text.tsx'

interface Props {
  value: string
  /** What it is the hash or the address of; with the network it leads to the page of that. */
  kind?: 'block' | 'tx' | 'address' | 'token'
  network?: string
  /** What it is known as, such as the name of a contract. */
  name?: string | undefined
  /** Without a button that copies it. */
  brief?: boolean
}

/** A hash or an address: short, and whole for the clipboard and as a title. */
export const Hash = ({ value, kind, network, name, brief = false }: Props) => {
  const href = kind && network && HEX.test(value) ? hrefOf(network, kind, value) : undefined
  const text = name === undefined ? <code>{short(value)}</code> : <Text value={name} most={32} brief />
  return (
    <span class="hash">
      {href === undefined ? (
        <span title={value}>{text}</span>
      ) : (
        <Link to={href} title={value}>
          {text}
        </Link>
      )}
      {!brief && <Copy text={value} what={short(value)} />}
    </span>
  )
}

const HEX = /^0x[0-9a-f]+$/i

export const short = (hex: string): string => (hex.length <= 14 ? hex : `${hex.slice(0, 6)}…${hex.slice(-4)}`)
