import { useState } from 'preact/hooks'
import { zone } from '../../browser/preferences.ts'
import { setQuery } from '../../browser/router.tsx'
import { useStore } from '../../browser/state.ts'
import { Dialog, Field, Form } from '../../parts/controls.tsx'
import { Icon } from '../../parts/icon.tsx'
import { Menu } from '../../parts/menu.tsx'
import { CLOCKS, Time } from '../../parts/text.tsx'
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
              (PRESETS[range] ?? PRESETS[''])
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
  const shownZone = useStore(zone)
  const clockAt = (text: string) => {
    const time = millis(text)
    return time === undefined ? '' : CLOCKS[shownZone].format(time).replace(' ', 'T')
  }
  const timeOf = (text: string) => (text === '' ? '' : String(Date.parse(shownZone === 'UTC' ? `${text}Z` : text)))
  const [from, setFrom] = useState(clockAt(search.from))
  const [to, setTo] = useState(clockAt(search.to))
  const isWrong = from !== '' && to !== '' && from >= to
  const submit = () => {
    if (isWrong) return
    setQuery({ range: '', from: timeOf(from), to: timeOf(to) })
    onClose()
  }
  const field = (label: string, value: string, set: (text: string) => void, error?: string) => (
    <Field label={`${label}, ${shownZone}`} error={error}>
      {control => (
        <input
          {...control}
          type="datetime-local"
          step="1"
          value={value}
          onInput={event => set(event.currentTarget.value)}
        />
      )}
    </Field>
  )
  return (
    <Dialog title="Time range" onClose={onClose}>
      <Form onSubmit={submit}>
        {field('From', from, setFrom)}
        {field('To', to, setTo, isWrong ? 'This is not after the beginning.' : undefined)}
        <button type="submit" class="main">
          Apply
        </button>
      </Form>
    </Dialog>
  )
}
