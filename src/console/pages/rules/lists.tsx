import { useState } from 'preact/hooks'
import { usePages, useRows, useSettled } from '../../api/ask.ts'
import { callApi, messageOf } from '../../api/client.ts'
import type { WatchList, WatchListChange, WatchLists, WatchListValues } from '../../api/wire.ts'
import { Link, navigate } from '../../browser/router.tsx'
import { announce, announced } from '../../parts/announce.ts'
import { Empty } from '../../parts/answer.tsx'
import { Aside, Button, confirm, Dialog, Field, FileField, Form, TextField } from '../../parts/controls.tsx'
import { countText } from '../../parts/format.ts'
import { IconButton } from '../../parts/menu.tsx'
import { type Column, PagedList } from '../../parts/table.tsx'
import { say, Text, Time } from '../../parts/text.tsx'
import { RuleLinks, RulesPage } from './list.tsx'

const LISTS_PAGE = '/rules/lists'
const LISTS_REFRESH_MS = 10_000
const TYPING_MS = 250
const PAGE_SIZE = '200'

const listPath = (name: string, below = '') => `alerting/lists/${encodeURIComponent(name)}/${below}`
const listPage = (name: string) => `${LISTS_PAGE}/${encodeURIComponent(name)}`
const sendValues = <T,>(path: string, method: 'POST' | 'PUT', body: string) =>
  callApi<T>(path, { method, body, headers: { 'content-type': 'application/x-ndjson' } })

/** Watch lists of the account, and the open one. */
export const WatchListsPage = ({ open }: { open: string | undefined }) => {
  const pages = useRows('alerting/lists/', ({ lists }: WatchLists) => lists, LISTS_REFRESH_MS)
  const [isNew, setNew] = useState(false)
  const create = <Button class="main" label="Create a list" onClick={() => setNew(true)} />
  return (
    <RulesPage current={LISTS_PAGE} actions={create}>
      <PagedList
        {...{ pages, open, label: 'Watch lists', what: 'the watch lists', columns: LIST_COLUMNS, empty: <NoLists /> }}
        keyOf={({ name }) => name}
        onOpen={({ name }) => navigate(listPage(name), { replace: open !== undefined })}
      >
        {open !== undefined && pages.data !== undefined && (
          <OneList key={open} name={open} list={pages.rows.find(({ name }) => name === open)} onChanged={pages.again} />
        )}
      </PagedList>
      {isNew && <NewList names={pages.rows.map(({ name }) => name)} onClose={() => setNew(false)} done={pages.again} />}
    </RulesPage>
  )
}

const NoLists = () => (
  <Empty title="There is no watch list yet">
    <p>
      A list holds addresses or other values that rules compare with, such as those of your customers. It changes
      without the rules: choose it as the value of “is one of”.
    </p>
  </Empty>
)

const LIST_COLUMNS: readonly Column<WatchList>[] = [
  {
    ...{ title: 'Name', width: 'minmax(16ch, 1fr)', isMain: true },
    cell: ({ name }) => <Link to={listPage(name)}>{name}</Link>,
  },
  { title: 'Values', width: '10ch', align: 'right', cell: ({ size }) => size.toLocaleString() },
  { title: 'Used by', width: 'minmax(16ch, 2fr)', cell: ({ rules }) => <RuleLinks of={rules} none="no rule" /> },
  { title: 'Changed', width: '21ch', cell: ({ updatedAt }) => <Time value={updatedAt} brief /> },
]

interface ValuesProps {
  text: string
  onText(text: string): void
}

/** Values by hand or from a file, which is added below what was typed. */
const ValuesField = ({ text, onText }: ValuesProps) => (
  <>
    <Field label="Values" hint="One in each line, plain or as a JSON string.">
      {control => (
        <textarea
          {...control}
          rows={4}
          spellcheck={false}
          value={text}
          onInput={event => onText(event.currentTarget.value)}
        />
      )}
    </Field>
    <FileField
      label="Choose a file"
      accept=".txt,.csv,.json,.ndjson"
      onFiles={async ([file]) => file && onText([text.trim(), (await file.text()).trim()].filter(Boolean).join('\n'))}
    />
  </>
)

interface NewListProps {
  names: readonly string[]
  done(): void
  onClose(): void
}

const NewList = ({ names, done, onClose }: NewListProps) => {
  const [name, setName] = useState('')
  const [text, setText] = useState('')
  const [fault, setFault] = useState<string>()
  const create = async () => {
    // The server would put the values in the place of those that the list has.
    if (names.includes(name)) return setFault('There is a list of this name. Choose another one.')
    try {
      await sendValues<WatchList>(listPath(name), 'PUT', text)
    } catch (error) {
      return setFault(messageOf(error))
    }
    announce('Created the list.')
    onClose()
    done()
    navigate(listPage(name))
  }
  return (
    <Dialog title="Create a list" onClose={onClose}>
      <Form onSubmit={create}>
        <TextField label="Name" value={name} onInput={setName} hint="Letters, digits, “_”, “.” and “-”." />
        <ValuesField text={text} onText={setText} />
        {fault !== undefined && <p class="fault" role="alert" children={fault} />}
        <p class="actions">
          <button type="submit" class="main" disabled={name === '' || text.trim() === ''}>
            Create
          </button>
        </p>
      </Form>
    </Dialog>
  )
}

interface OneListProps {
  name: string
  /** Undefined where there is none. */
  list: WatchList | undefined
  onChanged(): void
}

const OneList = ({ name, list, onChanged }: OneListProps) => {
  const [text, setText] = useState('')
  const [sought, setSought] = useState('')
  const value = useSettled(sought.trim(), TYPING_MS)
  const ask = async (after: string | undefined, signal: AbortSignal) => {
    const query = new URLSearchParams({ size: PAGE_SIZE, ...(after && { after }), ...(value && { value }) })
    const { values, next } = await callApi<WatchListValues>(listPath(name, `values/?${query}`), { signal })
    return { rows: values, next }
  }
  const values = usePages(list && `list ${name} ${list.revision} ${value}`, ask)
  const act = async (work: () => Promise<unknown>) => {
    const isDone = await announced(async () => void (await work()))
    if (isDone) onChanged()
    return isDone
  }
  const change = async (how: 'add' | 'remove', body: string) => {
    const { count } = await sendValues<WatchListChange>(listPath(name, `${how}/`), 'POST', body)
    announce(`${how === 'add' ? 'Added' : 'Removed'} ${countText(count, 'value')}.`)
  }
  const typed = (how: 'add' | 'remove') => async () => {
    if (await act(() => change(how, text))) setText('')
  }
  const replace = async () => {
    const asked = `All ${countText(list!.size, 'value')} go, and these are in their place. Rules see it from the next block on.`
    if (!(await confirm({ title: `Replace the values of ${name}?`, text: asked, action: 'Replace all' }))) return
    const isDone = await act(async () => {
      const { size } = await sendValues<WatchList>(listPath(name), 'PUT', text)
      announce(`The list has ${countText(size, 'value')} now.`)
    })
    if (isDone) setText('')
  }
  const remove = async () => {
    const asked = 'The list and its values go. This cannot be undone.'
    if (!(await confirm({ title: `Delete ${name}?`, text: asked, action: 'Delete the list' }))) return
    const isDone = await act(() => callApi(listPath(name), { method: 'DELETE' }))
    if (isDone) navigate(LISTS_PAGE, { replace: true })
  }
  const columns: readonly Column<string>[] = [
    {
      ...{ title: 'Value', width: 'minmax(12ch, 1fr)' },
      cell: value => (
        <code>
          <Text value={value} most={80} brief />
        </code>
      ),
    },
    {
      ...{ title: 'Remove', width: '8ch', align: 'right' },
      cell: value => (
        <IconButton
          icon="close"
          label={`Remove ${value}`}
          onClick={() => act(() => change('remove', JSON.stringify(value)))}
        />
      ),
    },
  ]
  if (!list)
    return (
      <Aside what="list" title={<Text value={name} most={60} brief />} onClose={() => navigate(LISTS_PAGE)}>
        <p>There is no watch list of this name.</p>
      </Aside>
    )
  const hasText = text.trim() !== ''
  return (
    <Aside what="list" title={name} onClose={() => navigate(LISTS_PAGE)}>
      <p>
        {countText(list.size, 'value')}.{' '}
        {say`Used by ${<RuleLinks of={list.rules} none="no rule" />}. Changed ${<Time value={list.updatedAt} />}.`}
      </p>
      <TextField type="search" label="Look up a value" value={sought} onInput={setSought} />
      <PagedList
        {...{ pages: values, label: 'Values of the list', what: 'the values', columns }}
        keyOf={value => value}
        empty={<p role="status">{value === '' ? 'The list is empty.' : 'The list does not have this value.'}</p>}
      />
      <h3>Change</h3>
      <ValuesField text={text} onText={setText} />
      <p class="actions">
        <Button label="Add" disabled={!hasText} onClick={typed('add')} />
        <Button label="Remove" disabled={!hasText} onClick={typed('remove')} />
        <Button label="Replace all" disabled={!hasText} onClick={replace} />
      </p>
      <p class="actions">
        <Button class="link" label="Delete the list" onClick={remove} />
      </p>
    </Aside>
  )
}
