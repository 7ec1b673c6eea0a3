// Charts of bars, by uPlot. Each bar leads to its samples. The page has the same numbers as a table.

const dark = matchMedia('(prefers-color-scheme: dark)')
const colour = name => getComputedStyle(document.documentElement).getPropertyValue(name).trim()

function short(n) {
  for (const [unit, size] of [['T', 1e12], ['G', 1e9], ['M', 1e6], ['k', 1e3]]) if (n >= size) return +(n / size).toPrecision(3) + unit
  return String(n)
}

function chart(box) {
  const bars = JSON.parse(box.dataset.bars)
  const text = box.querySelector('.under') ?? box.appendChild(Object.assign(document.createElement('p'), {className: 'under weak'}))
  const first = i => bars[Math.max(0, Math.min(bars.length - 1, i))]
  const axis = {stroke: colour('--text'), grid: {stroke: colour('--line'), width: 1}, ticks: {stroke: colour('--line'), width: 1}}
  const follow = link => { location.href = link }
  const plot = new uPlot({
    width: box.clientWidth,
    height: Math.max(160, Math.min(280, innerHeight / 3)),
    scales: {x: {time: false, range: [-0.5, bars.length - 0.5]}, y: {range: (_, low, high) => [0, high || 1]}},
    legend: {show: false},
    cursor: {y: false, points: {show: false}, drag: {x: true, y: false, setScale: false}},
    axes: [
      {...axis, grid: {show: false}, space: 70, incrs: [1, 2, 4, 5, 10, 20, 40, 50, 100, 200, 500, 1000, 2000],
        values: (_, at) => at.map(i => Number.isInteger(i) && bars[i] ? bars[i].name.split(' to ')[0].slice(0, 12) : '')},
      {...axis, size: 60, values: (_, at) => at.map(short)},
    ],
    series: [{}, {fill: colour('--bar'), stroke: colour('--bar'), width: 0, points: {show: false}, paths: uPlot.paths.bars({size: [0.9, 60]})}],
    hooks: {
      setCursor: [u => {
        const i = u.cursor.idx
        text.textContent = i == null ? ' ' : `${bars[i].name}: ${bars[i].count.toLocaleString('en')}`
      }],
      setSelect: [u => {
        if (u.select.width < 5) return
        const from = first(Math.round(u.posToVal(u.select.left, 'x')))
        const to = first(Math.round(u.posToVal(u.select.left + u.select.width, 'x')))
        if (box.dataset.axis !== 'size') return u.setSelect({left: 0, width: 0}, false)
        const link = new URL(from.link, location)
        const ends = bar => new URL(bar.link, location).searchParams.get('where').split(' and ')
        link.searchParams.set('where', ends(from)[0] + ' and ' + ends(to)[1])
        follow(link)
      }],
    },
  }, [bars.map((_, i) => i), bars.map(b => b.count)], box)
  let pressed = 0
  plot.over.addEventListener('mousedown', event => { pressed = event.clientX })
  plot.over.addEventListener('click', event => {
    if (Math.abs(event.clientX - pressed) < 5 && plot.cursor.idx != null) follow(bars[plot.cursor.idx].link)
  })
  return plot
}

for (const box of document.querySelectorAll('.chart')) {
  let plot = chart(box)
  const again = () => { plot.destroy(); plot = chart(box) }
  let width = box.clientWidth
  new ResizeObserver(() => {
    if (box.clientWidth === width) return
    width = box.clientWidth
    again()
  }).observe(box)
  dark.addEventListener('change', again)
}
