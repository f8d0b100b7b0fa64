import { Hash } from '../../parts/hash.tsx'
import { useKnown } from './names.ts'
import { isAddress, ZERO } from './read.ts'

interface Props {
  network: string
  value: string | null | undefined
  kind?: 'address' | 'token'
  brief?: boolean
}

/** An address that leads to its page, by the name of its contract or token where it has one. */
export const AddressLink = (props: Props) => {
  const { value } = props
  if (typeof value !== 'string' || value === '') return <span class="dim">none</span>
  if (value === ZERO) return <span title={value}>the zero address</span>
  return isAddress(value) ? <Named {...props} value={value} /> : <Hash value={value} />
}

const Named = ({ network, value, kind = 'address', brief = false }: Props & { value: string }) => {
  const known = useKnown(network, value)
  const name = known?.name ?? known?.symbol
  return (
    <>
      <Hash value={value} kind={kind} network={network} name={name} brief={brief} />
      {/* Many contracts have one name, and anybody can take another’s. */}
      {name !== undefined && <code class="dim">…{value.slice(-4)}</code>}
    </>
  )
}
