import { Hash } from '../../parts/hash.tsx'
import type { Column } from '../../parts/table.tsx'
import { Text } from '../../parts/text.tsx'
import { Time } from '../../parts/time.tsx'
import type { Abi } from './wire.ts'

export const COLUMNS: readonly Column<Abi>[] = [
  {
    name: 'name',
    title: 'Name',
    width: 'minmax(12ch, 2fr)',
    cell: ({ name }) => <Text value={name ?? 'unnamed'} brief />,
  },
  { name: 'for', title: 'For', width: 'minmax(16ch, 1fr)', cell: abi => <For abi={abi} /> },
  { name: 'network', title: 'Network', width: 'minmax(16ch, 1fr)', cell: ({ network }) => network ?? 'all networks' },
  { name: 'events', title: 'Events', width: '8ch', align: 'right', cell: ({ events }) => events.toLocaleString() },
  {
    name: 'functions',
    title: 'Functions',
    width: '9ch',
    align: 'right',
    cell: ({ functions }) => functions.toLocaleString(),
  },
  { name: 'errors', title: 'Errors', width: '8ch', align: 'right', cell: ({ errors }) => errors.toLocaleString() },
  { name: 'added', title: 'Added', width: '20ch', cell: ({ addedAt }) => <Time value={addedAt} brief /> },
]

/** Which contracts it decodes. */
export const For = ({ abi: { address, codeHash, network } }: { abi: Abi }) => {
  if (address !== null) return <Hash value={address} kind="address" {...(network !== null && { network })} />
  if (codeHash !== null)
    return (
      <>
        code <Hash value={codeHash} />
      </>
    )
  return <>any contract that it fits</>
}
