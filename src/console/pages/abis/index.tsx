import { useState } from 'preact/hooks'
import { ask } from '../../api/client.ts'
import { useAsk } from '../../api/use-ask.ts'
import { Empty } from '../../parts/empty.tsx'
import { Fault } from '../../parts/fault.tsx'
import { Field } from '../../parts/field.tsx'
import { NeedsScope } from '../../parts/needs-scope.tsx'
import { Busy } from '../../parts/progress.tsx'
import { Table } from '../../parts/table.tsx'
import type { PageProps } from '../../routes.ts'
import { navigate } from '../../shell/router.tsx'
import { COLUMNS } from './columns.tsx'
import { OneAbi } from './one-abi.tsx'
import { Redecodings } from './redecodings.tsx'
import { Upload } from './upload.tsx'
import type { Abi } from './wire.ts'

/** The ABIs that were added to the server. */
const Abis = ({ parameters }: PageProps) => (
  <div class="abis">
    <h1>ABIs</h1>
    <NeedsScope scope="admin" to="see, add and remove ABIs">
      <Content open={parameters.get('id')} />
    </NeedsScope>
  </div>
)

export default Abis

const Content = ({ open }: { open: string | undefined }) => {
  const { data, error, again } = useAsk('abis', signal => ask<{ abis: Abi[] }>('abis', { signal }))
  const [wanted, setWanted] = useState('')
  const [round, setRound] = useState(0)
  const decodeAgain = () => setRound(count => count + 1)
  const abis = data?.abis ?? []
  const found = abis.filter(abi => fits(abi, wanted))
  return (
    <>
      <Upload
        onAdded={() => {
          again()
          decodeAgain()
        }}
      />
      <Redecodings round={round} />
      {error !== undefined && <Fault title="The ABIs cannot be read" error={error} again={again} />}
      {!data && error === undefined && <Busy label="Reading the ABIs" />}
      {data && abis.length === 0 && (
        <Empty title="No ABI was added yet">
          <p>
            Events and calls are decoded by the bundled registry of signatures. Add the ABIs of your contracts, and
            their arguments get names, and their errors are explained.
          </p>
        </Empty>
      )}
      {abis.length > 0 && (
        <>
          <div class="filters">
            <Field label="Find an ABI">
              {field => (
                <input
                  {...field}
                  type="search"
                  data-search
                  spellcheck={false}
                  placeholder="Name, address, code hash or network"
                  value={wanted}
                  onInput={event => setWanted(event.currentTarget.value)}
                />
              )}
            </Field>
            <p class="dim" role="status">
              {found.length.toLocaleString()} of {abis.length.toLocaleString()}
            </p>
          </div>
          <div class="found">
            <Table
              label="ABIs"
              columns={COLUMNS}
              rows={found}
              keyOf={({ id }) => id}
              open={open}
              onOpen={({ id }) => navigate(`/abis/${id}`, { replace: open !== undefined })}
            />
            {open !== undefined && (
              <OneAbi
                key={open}
                id={open}
                onClose={() => navigate('/abis')}
                onRemoved={() => {
                  navigate('/abis', { replace: true })
                  again()
                }}
                onDecode={decodeAgain}
              />
            )}
          </div>
        </>
      )}
    </>
  )
}

const fits = ({ id, name, network, address, codeHash }: Abi, wanted: string): boolean => {
  const text = wanted.trim().toLowerCase()
  return [id, name, network, address, codeHash].some(it => it?.toLowerCase().includes(text))
}
