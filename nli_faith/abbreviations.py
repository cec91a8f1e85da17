"""Words after which a period may not end a sentence, and words that begin one: lower case, without their last period."""

TITLES = frozenset(
    "mr mrs ms mx dr prof rev hon sgt capt cpt gov sen rep gen messrs st mt ft sra sr.a dra brig maj col lt cmdr cpl "
    "pvt supt det insp pfc adm atty".split()
)
# Never the end of a sentence, whatever follows.
INNER = frozenset("e.g i.e eg ie cf viz approx vs al z.b d.h p.ej resp incl excl esp".split())
# Abbreviations only before a number, a letter or a Roman numeral: "fig. 3", "No. 5", "Sec. II".
BEFORE_NUMBER = frozenset(
    "no nos nr ca fig figs tab tabs eq eqs sec secs ch chap vol vols pp p pg art para ex ver v ref refs step c b d n"
    " jan feb mar apr jun jul aug sep sept oct nov dec ln ser §".split()
)
MORE_ABBREVIATIONS = frozenset(
    "etc dept est jr sr inc ltd corp co llc bros plc gmbh ph.d m.d b.a m.a b.sc m.sc d.d.s esq com adm intl assn "
    "univ mon"
    " tue tues wed thu thurs fri sat sun ave blvd rd hwy apt bldg min max avg misc temp tel ext op ed eds trans rev"
    " hr hrs mins secs lb lbs oz tsp tbsp pt qt gal pkg doz sq cu ft vs e.u u.n a.d b.c b.c.e".split()
)
# Days and states when capitalised, words when not: "a rice wash. Bring it to a boil."
NOT_LOWER = frozenset("wash wed sun sat ok ill ore mon fri wis".split())
# A single letter after one of these ends its phrase: "vitamin C.", "degrees F.", "plan B."; elsewhere it is an initial.
LETTERED = frozenset(
    "degrees vitamin vitamins plan unit group type class grade appendix section part option figure table hepatitis "
    "schedule phase war"
    " point exhibit room building level zone model category team influenza step".split()
)
COUNTRIES = frozenset("u.s u.s.a u.k u.n e.u u.a.e".split())
STARTERS = frozenset(
    "the this that these those it its he she they we you i there here in on at for from with to if when while as "
    "after "
    "before"
    " however but and so also although because since his her their our your my a an one some many most all both each "
    "every no"
    " not another other what which who how why where please then thus therefore moreover furthermore additionally "
    "meanwhile"
    " finally overall according during under by see over only despite among between within without through until "
    "unlike "
    "like once"
    " several few two three four five such yes both".split()
) - {"i", "a"}
# What a clock time may be followed by within its sentence.
AFTER_TIME = frozenset(
    "monday tuesday wednesday thursday friday saturday sunday mon tue wed thu fri sat sun eastern central "
    "mondays tuesdays wednesdays thursdays fridays saturdays sundays weekdays weekends jan feb mar apr jun jul aug sep "
    "sept oct nov dec mountain pacific"
    " est edt cst cdt mst mdt pst pdt et ct pt gmt utc cet cest bst ist january february march april may june "
    "july august"
    " september october november december local".split()
)
# Abbreviations before small letters, numbers and initials only: "1 tab. daily", "the 9th Cir. affirmed", "Fed. R. Civ. P."
LEGAL = frozenset("tab tabs cap caps cir ct dist civ crim fed".split())
# Titles of codes and reports are chains of abbreviations: "Cal. Civ. Code", "Fla. Stat.", "Fed. Reg."
LAWS = LEGAL | frozenset(
    "ala ariz ark cal colo conn del fla ga ill ind kan ky la mass md me mich minn miss mo mont neb nev okla or ore pa tenn tex"
    " va vt wash wis wyo penal stat gen ann rev bus prob veh lab fam evid proc admin comp".split()
)
IN_LAWS = frozenset(
    "code codes civ crim penal proc evid stat const rev gen ann app reg regs rptr supp admin comp laws bus prof prob veh lab"
    " fam health".split()
)
# In small letters they count nothing by themselves: "a work of art. 12 paintings", but "see art. 12".
NEEDS_CONTEXT = frozenset("art step".split())
LEADING = frozenset("see in under cf and per by with to or at from".split())
# Titles with a capital, words without.
WORDS_TOO = frozenset("rep gen hon col det".split())
COMPANIES = frozenset("inc ltd corp co llc plc gmbh bros".split())
# Behind the name of a company they belong to a person: "Acme Inc. Chairman of the board Jane Doe".
ROLES = frozenset(
    "chairman chairwoman chair chief president vice senior executive director founder head manager owner partner spokesman"
    " spokeswoman spokesperson analyst economist secretary treasurer counsel".split()
)
# Behind a figure: "for 30 mins.", "8 oz.".
DURATIONS = frozenset("hr hrs min mins sec secs wk wks yr yrs".split())
MEASURES = DURATIONS | frozenset("lb lbs oz tsp tbsp pt qt gal pkg ft".split())
# What one is told to do next with what was measured.
IMPERATIVES = frozenset(
    "add bake beat blend boil bring chill chop combine cook cool cover cut divide do drain drop fold freeze fry garnish"
    " grill heat knead let marinate mash melt mix place pour preheat press put reduce remove repeat rest rinse roast roll"
    " rub season serve set shake simmer slice soak spread sprinkle squeeze steam stir strain take toss transfer turn use"
    " wait warm wash whip whisk wipe".split()
)
# A number before one of these is an ordinal: "am 3. Oktober". Those that English shares need a German word before them.
GERMAN_MONTHS = frozenset("januar februar märz mai juni juli oktober dezember".split())
SHARED_MONTHS = frozenset("april august september november".split())
GERMAN_LEADING = frozenset("am vom zum dem den der bis ab seit".split())
# Names that end in an exclamation mark.
EXCLAIMED = frozenset("Yahoo Jeopardy".split())
