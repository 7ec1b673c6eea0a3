// The grid of samples: cards are added when the end comes near, and taken away when they are far off, so that
// memory does not grow with the samples that were seen. And the keys of all pages.

const grid = document.getElementById('grid')
const near = 1500 // pixels: chunks so near to what is seen are there
const far = 4000 // those farther away are taken away

// part fetches some cards, as a chunk.
async function part(url) {
  const answer = await fetch(url)
  if (!answer.ok) throw new Error(`the server answered ${answer.status}`)
  const page = new DOMParser().parseFromString(await answer.text(), 'text/html')
  return document.adoptNode(page.querySelector('.chunk'))
}

const ends = new IntersectionObserver(entries => entries.forEach(e => e.isIntersecting && more(e.target)), {rootMargin: near + 'px'})
const away = new IntersectionObserver(entries => entries.forEach(e => e.isIntersecting ? fill(e.target) : empty(e.target)), {rootMargin: far + 'px'})

// more adds the chunk after the last one.
async function more(end) {
  ends.unobserve(end)
  const chunk = end.closest('.chunk')
  if (!chunk.dataset.more) return
  try {
    const next = await part(chunk.dataset.more)
    chunk.after(next)
    away.observe(next)
    ends.observe(next.querySelector('.looked'))
    if (!chunk.querySelector('.card') && !chunk.dataset.empty) { // searched, and nothing found there
      away.unobserve(chunk)
      chunk.remove()
    }
  } catch (error) {
    end.querySelector('a').textContent = `More samples (${error.message})`
  }
}

// empty takes the cards of a chunk away, and keeps its place.
function empty(chunk) {
  if (chunk.dataset.empty || chunk.contains(document.activeElement) || !chunk.nextElementSibling) return
  chunk.style.height = chunk.offsetHeight + 'px'
  chunk.dataset.empty = 'yes'
  chunk.replaceChildren()
}

// fill brings the cards back.
async function fill(chunk) {
  if (chunk.dataset.empty !== 'yes') return
  chunk.dataset.empty = 'coming'
  try {
    chunk.replaceChildren(...(await part(chunk.dataset.url)).children)
    chunk.style.height = ''
    delete chunk.dataset.empty
  } catch {
    chunk.dataset.empty = 'yes' // again when it is near once more
  }
}

if (grid) {
  for (const chunk of grid.querySelectorAll('.chunk')) {
    away.observe(chunk)
    ends.observe(chunk.querySelector('.looked'))
  }
  grid.addEventListener('error', event => {
    const face = event.target.closest('.face')
    if (face) face.textContent = 'picture not shown'
  }, true)
}

// card returns the card that an arrow leads to.
function card(key) {
  const all = [...grid.querySelectorAll('.card')]
  const at = all.indexOf(document.activeElement)
  if (at < 0) return all.find(c => c.getBoundingClientRect().bottom > 0)
  switch (key) {
    case 'ArrowRight': return all[at + 1]
    case 'ArrowLeft': return all[at - 1]
    case 'Home': return all[0]
    case 'End': return all[all.length - 1]
  }
  const here = all[at].getBoundingClientRect()
  const way = key === 'ArrowDown' ? 1 : -1
  for (let i = at + way; i >= 0 && i < all.length; i += way) {
    const there = all[i].getBoundingClientRect()
    if (way * (there.top - here.top) > 1 && Math.abs(there.left - here.left) < 2) return all[i]
  }
}

// A card that is opened leaves its place in the history, so that the way back leads there.
grid?.addEventListener('click', event => {
  const card = event.target.closest('.card')
  if (!card) return
  const here = new URL(location)
  here.searchParams.set('from', new URL(card.closest('.chunk').dataset.url, here).searchParams.get('from'))
  here.hash = card.id
  history.replaceState(null, '', here)
})
if (grid && location.hash) document.getElementById(location.hash.slice(1))?.focus()

const follow = id => document.getElementById(id)?.click()

document.addEventListener('keydown', event => {
  if (event.ctrlKey || event.metaKey || event.altKey) return
  if (event.target.closest('input, select, textarea, audio, video, dialog')) return
  if (event.target.closest('pre, .scroll') && event.key.startsWith('Arrow')) return
  const search = document.querySelector('.filter input') ?? document.querySelector('.find input')
  if (event.key === '/' && search) {
    event.preventDefault()
    search.focus()
  } else if (event.key === '?') {
    document.getElementById('keys').showModal()
  } else if (grid && ['ArrowRight', 'ArrowLeft', 'ArrowDown', 'ArrowUp', 'Home', 'End'].includes(event.key)) {
    const to = card(event.key)
    if (!to) return
    event.preventDefault()
    to.focus()
  } else if (event.key === 'ArrowLeft') {
    follow('before')
  } else if (event.key === 'ArrowRight') {
    follow('next')
  } else if (event.key === 'Escape') {
    follow('up')
  }
})

document.addEventListener('click', async event => {
  if (event.target.matches('.keys')) document.getElementById('keys').showModal()
  if (!event.target.matches('.copy')) return
  const line = event.target.parentElement
  const said = line.querySelector('[role=status]')
  try {
    await navigator.clipboard.writeText(line.querySelector('code').textContent)
    said.textContent = 'copied'
  } catch {
    getSelection().selectAllChildren(line.querySelector('code'))
    said.textContent = 'selected: copy it'
  }
})
