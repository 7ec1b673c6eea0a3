#!/bin/sh
# ffconvert tar --filter 'examples/atleast.sh jpg 4096' …: a filter of shell and Perl, which drops samples whose field has fewer bytes.
exec perl -e '
my ($field, $least) = @ARGV;
binmode $_ for *STDIN, *STDOUT;
$| = 1;                                                     # flush each answer
my $raw;                                                    # the sample, as it was read

sub take {
    my ($n, $b) = (shift, "");
    while (length $b < $n) {
        read(STDIN, $b, $n - length $b, length $b) or exit($raw . $b eq "" ? 0 : 1);
    }
    $raw .= $b;
    return $b;
}

sub head {                                                  # major type and number
    my $first = ord take(1);
    my ($major, $n) = ($first >> 5, $first & 31);
    if ($n > 23) {
        my $bytes = take(1 << $n - 24);
        $n = 0;
        $n = $n << 8 | ord $_ for split //, $bytes;
    }
    return ($major, $n);
}

sub item {
    my ($major, $n) = head();
    return "" if $major < 2 || $major == 7;                 # a number, true, false or null
    return take($n) if $major < 4;                          # bytes or text
    item() for 1 .. $n * ($major - 3);                      # an array, or a map with two items a pair
    return "";
}

while (1) {
    $raw = "";
    my (undef, $fields) = head();
    my $size = 0;
    for (1 .. $fields) {
        my ($name, $value) = (item(), item());
        $size = length $value if $name eq $field;
    }
    print $size < $least ? "\x80" : $raw;                   # an empty array drops the sample
}' "$@"
