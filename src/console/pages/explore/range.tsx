import { useState } from 'preact/hooks'
import { ownEntry } from '../../api/json.ts'
import { setQuery } from '../../browser/router.tsx'
import { DateTimeField, Dialog, Form } from '../../parts/controls.tsx'
import { Icon } from '../../parts/icon.tsx'
import { Menu } from '../../parts/menu.tsx'
import { Time } from '../../parts/text.tsx'
import { isCut, millis, type Search } from './state.ts'

/** By seconds before the newest block. */
const PRESETS: Readonly<Record<string, string>> = {
  '3600': 'Last hour',
  '86400': 'Last day',
  '604800': 'Last week',
  '': 'All of the chain',
}

export const setRange = (range: string) => setQuery({ range, from: '', to: '' })

/** The time that is searched: it ends at the newest block, or lies between two times. */
export const RangeMenu = ({ search }: { search: Search }) => {
  const [isOpen, setOpen] = useState(false)
  const { range, from, to } = search
  const isCustom = isCut(search)
  const time = (text: string) => (text === '' ? '…' : <Time value={Number(text) / 1_000} brief />)
  return (
    <>
      <Menu
        class="quiet"
        label={
          <>
            <Icon name="time" />
            <span class="skip">Time range: </span>
            {isCustom ? (
              <span>
                {time(from)} – {time(to)}
              </span>
            ) : (
              (ownEntry(PRESETS, range) ?? PRESETS[''])
            )}
            <Icon name="down" />
          </>
        }
        items={[
          ...Object.entries(PRESETS).map(([seconds, title]) => ({
            ...{ title, checked: !isCustom && range === seconds, run: () => setRange(seconds) },
          })),
          { title: 'Custom …', checked: isCustom, run: () => setOpen(true) },
        ]}
      />
      {isOpen && <CustomRange search={search} onClose={() => setOpen(false)} />}
    </>
  )
}

const CustomRange = ({ search, onClose }: { search: Search; onClose(): void }) => {
  const [from, setFrom] = useState(millis(search.from))
  const [to, setTo] = useState(millis(search.to))
  const isWrong = from !== undefined && to !== undefined && from >= to
  const submit = () => {
    if (isWrong) return
    setQuery({ range: '', from: String(from ?? ''), to: String(to ?? '') })
    onClose()
  }
  return (
    <Dialog title="Time range" onClose={onClose}>
      <Form onSubmit={submit}>
        <DateTimeField label="From" value={from} onInput={setFrom} />
        <DateTimeField
          label="To"
          value={to}
          error={isWrong ? 'This is not after the beginning.' : undefined}
          onInput={setTo}
        />
        <button type="submit" class="main">
          Apply
        </button>
      </Form>
    </Dialog>
  )
}
